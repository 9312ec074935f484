import { parseProtoDuration, plausibleWait } from './numbers.js';
import { elements, field, parseJson } from './response.js';

/** Bounds the work on deep, wide or cyclic bodies. */
const MAX_VISITS = 32;
const MAX_TEXTS = 4;
const MAX_ELEMENTS = 16;

const RETRY_INFO = 'google.rpc.RetryInfo';
const QUOTA_FAILURE = 'google.rpc.QuotaFailure';

/** The delay of `google.rpc.RetryInfo` in an error body, in milliseconds. */
export function retryInfoDelay(body: unknown): number | undefined {
  for (const detail of errorDetails(body, RETRY_INFO)) {
    const delay = field(detail, 'retryDelay');
    const ms = typeof delay === 'string' ? parseProtoDuration(delay) : undefined;
    const wait = ms === undefined ? undefined : plausibleWait(ms);
    if (wait !== undefined) return wait;
  }
  return undefined;
}

/**
 * Whether an error body of Google reports an exhausted daily quota. Such a body often contains a
 * RetryInfo of a few seconds, which does not apply.
 */
export function isDailyQuota(body: unknown): boolean {
  return errorDetails(body, QUOTA_FAILURE).some((detail) =>
    elements(field(detail, 'violations'), MAX_ELEMENTS).some(
      (violation) =>
        includes(field(violation, 'quotaId'), 'PerDay') ||
        includes(field(violation, 'quotaMetric'), 'per_day'),
    ),
  );
}

function includes(value: unknown, part: string): boolean {
  return typeof value === 'string' && value.length < 1024 && value.includes(part);
}

/**
 * The `details` of one type in a google.rpc.Status: in `error.details`, in an array (REST streams), in
 * a JSON string, or in a JSON string inside `message` (@google/genai; nested twice for streams).
 */
function errorDetails(body: unknown, type: string): unknown[] {
  const queue: unknown[] = [body];
  let textsLeft = MAX_TEXTS;
  for (let i = 0; i < queue.length && i < MAX_VISITS; i++) {
    const node = queue[i];
    if (typeof node === 'string') {
      if (textsLeft-- > 0) queue.push(parseJson(node, type));
      continue;
    }
    const details = elements(field(node, 'details'), MAX_ELEMENTS).filter((detail) =>
      endsWith(field(detail, '@type'), type),
    );
    if (details.length > 0) return details;
    for (const next of [
      field(node, 'error'),
      field(node, 'message'),
      ...elements(node, MAX_ELEMENTS),
    ]) {
      if (next !== undefined) queue.push(next);
    }
  }
  return [];
}

function endsWith(value: unknown, end: string): boolean {
  return typeof value === 'string' && value.endsWith(end);
}

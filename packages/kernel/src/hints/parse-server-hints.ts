import type { RateLimitInfo } from '../decide/rate-limit.js';
import { responseClock, retryAfter, retryAfterMilliseconds } from './retry-after.js';
import { retryInfoDelay } from './google-errors.js';
import { findHeaders, headerNames } from './headers.js';
import {
  IETF_HEADERS,
  ietfWindows,
  isPlausible,
  NAMED_WINDOW_HEADERS,
  namedWindows,
  type RateLimitWindow,
  toRateLimitInfo,
} from './rate-limit-windows.js';
import { isGraphqlLimit } from './is-rate-limited.js';
import { plausibleWait } from './numbers.js';
import { field, type ResponseLike } from './response.js';

/** The delay and rate limits that a response reports. */
export interface ServerHints {
  /** Delay before the next request: an integer from 0 to `MAX_PLAUSIBLE_WAIT_MS`. */
  readonly retryAfterMs?: number;
  /** All reported rate-limit windows, with `reset` on the local clock. */
  readonly limits: readonly RateLimitInfo[];
}

const HINT_HEADERS = headerNames([
  'retry-after',
  'retry-after-ms',
  ...NAMED_WINDOW_HEADERS,
  ...IETF_HEADERS,
]);

const MAX_LIMITS = 16;

/** Shared, because most responses contain no hints. */
const NO_HINTS: ServerHints = Object.freeze({ limits: Object.freeze([]) });

/**
 * Parses the delay and the rate limits of a response. The delay is the first of: `Retry-After`,
 * `retry-after-ms`, google.rpc.RetryInfo in the body of a failure, the latest reset of an exhausted
 * window. An exhausted window counts on a success too, for the next request. Malformed or implausible
 * values are ignored. Never throws.
 *
 * ```ts
 * parseServerHints({ status: 429, headers: { 'retry-after': '5' } }, Date.now()).retryAfterMs; // 5000
 * ```
 */
export function parseServerHints(response: ResponseLike, now: number): ServerHints {
  const raw = field(response, 'headers');
  const status = field(response, 'status');
  const body = field(response, 'body');
  const headers = findHeaders(raw, HINT_HEADERS);
  if (headers === undefined) {
    const retryAfterMs = bodyDelay(status, body);
    return retryAfterMs === undefined ? NO_HINTS : { retryAfterMs, limits: [] };
  }
  const clock = responseClock(raw, now);
  const windows = [...namedWindows(headers, clock), ...ietfWindows(headers)].filter(isPlausible);
  const retryAfterMs =
    retryAfter(headers, clock) ??
    retryAfterMilliseconds(headers) ??
    bodyDelay(status, body) ??
    latestReset(windows, status, body);
  const limits = windows
    .slice(0, MAX_LIMITS)
    .map((window) => toRateLimitInfo(window, clock))
    .filter((info) => info !== undefined);
  return retryAfterMs === undefined ? { limits } : { retryAfterMs, limits };
}

/** Ignores the body of a success, which may be content of third parties. */
function bodyDelay(status: unknown, body: unknown): number | undefined {
  if (body === undefined || (typeof status === 'number' && status < 400)) return undefined;
  return retryInfoDelay(body);
}

/** The latest reset of all exhausted windows. A reset in the past indicates clock skew and is ignored. */
function latestReset(
  windows: readonly RateLimitWindow[],
  status: unknown,
  body: unknown,
): number | undefined {
  // GitHub rejects a query that costs more than the remaining points.
  const isGraphqlRejection = windows.length > 0 && isGraphqlLimit(body);
  let latest = 0;
  for (const { remaining, waitMs } of windows) {
    // A 429 with only a reset reports the reset of the exceeded window.
    const exhausted = remaining === 0 || (remaining === undefined && status === 429);
    if ((exhausted || isGraphqlRejection) && waitMs > latest) latest = waitMs;
  }
  return latest > 0 ? plausibleWait(latest) : undefined;
}

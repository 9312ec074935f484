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

/** What a response says about waiting. */
export interface ServerHints {
  /** How long to wait before the next request; whole, within 0 and `MAX_PLAUSIBLE_WAIT_MS`. */
  readonly retryAfterMs?: number;
  /** The rate-limit windows that it reports, exhausted or not. `reset` is on our clock. */
  readonly limits: readonly RateLimitInfo[];
}

const HINT_HEADERS = headerNames([
  'retry-after',
  'retry-after-ms',
  ...NAMED_WINDOW_HEADERS,
  ...IETF_HEADERS,
]);

/** A list of limits longer than this is not a list of limits. */
const MAX_LIMITS = 16;

/** Most responses hint at nothing; they share one answer. */
const NOTHING: ServerHints = Object.freeze({ limits: Object.freeze([]) });

/**
 * Reads every form in which servers tell how long to wait. In order: `Retry-After`,
 * `retry-after-ms`, google.rpc.RetryInfo in the body of a failure, and the latest reset among the
 * exhausted windows, also on a success: it is then the next request that has to wait. The reset of a
 * window that still has requests left is never a wait. What is malformed or implausible counts as
 * absent, and the next form is asked. Never throws, whatever it is given.
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
    return retryAfterMs === undefined ? NOTHING : { retryAfterMs, limits: [] };
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

/**
 * The body of a success is content, and content does not tell us to wait: somebody else may have
 * written it.
 */
function bodyDelay(status: unknown, body: unknown): number | undefined {
  if (body === undefined || (typeof status === 'number' && status < 400)) return undefined;
  return retryInfoDelay(body);
}

/**
 * All exhausted windows must have reset before a request can pass. A reset in the past means that
 * somebody's clock is wrong, so it says nothing, rather than "now".
 */
function latestReset(
  windows: readonly RateLimitWindow[],
  status: unknown,
  body: unknown,
): number | undefined {
  // A query that costs more than what is left is refused while something is left.
  const refused = windows.length > 0 && isGraphqlLimit(body);
  let latest = 0;
  for (const { remaining, waitMs } of windows) {
    // A 429 that names only a reset names the reset of what was exceeded.
    const exhausted = remaining === 0 || (remaining === undefined && status === 429);
    if ((exhausted || refused) && waitMs > latest) latest = waitMs;
  }
  return latest > 0 ? plausibleWait(latest) : undefined;
}

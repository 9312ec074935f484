import { findHeaders, headerNames } from '../hints/headers.js';
import { parseCount, plausibleWait } from '../hints/numbers.js';

/** One rate-limit window as the upstream reported it. `reset` is a Unix timestamp in seconds. */
export interface RateLimitInfo {
  readonly limit: number;
  readonly remaining: number;
  readonly reset: number;
  /** Name of the window, if the upstream reports several ("24h app", a policy name). */
  readonly name?: string;
  /** The upstream did not report the limit; `limit` is then `remaining`, its lower bound. */
  readonly limitUnknown?: true;
}

const GITHUB_HEADERS = /* @__PURE__ */ headerNames([
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
]);

/** The year 5138: a larger value is a timestamp in milliseconds. */
const MAX_UNIX_SECONDS = 1e11;

/**
 * Milliseconds until a rate limit resets; 0 if the reset has passed or is implausible (NaN, or further
 * away than `MAX_PLAUSIBLE_WAIT_MS`).
 *
 * @param resetTimestamp Unix timestamp in seconds
 * @param now milliseconds since the epoch
 */
export function calculateRateLimitDelay(resetTimestamp: number, now: number = Date.now()): number {
  return plausibleWait(resetTimestamp * 1000 - now) ?? 0;
}

/**
 * Parses GitHub's `x-ratelimit-limit`, `-remaining` and `-reset` from any kind of headers object;
 * undefined if one of them is missing or malformed.
 *
 * ```ts
 * const info = parseRateLimitHeaders({
 *   'x-ratelimit-limit': '5000',
 *   'x-ratelimit-remaining': '4999',
 *   'x-ratelimit-reset': '1234567890',
 * });
 * info?.remaining; // 4999
 * ```
 */
export function parseRateLimitHeaders(headers: unknown): RateLimitInfo | undefined {
  const found = findHeaders(headers, GITHUB_HEADERS);
  const limit = parseCount(found?.get('x-ratelimit-limit'));
  const remaining = parseCount(found?.get('x-ratelimit-remaining'));
  const reset = parseCount(found?.get('x-ratelimit-reset'));
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined;
  return reset > MAX_UNIX_SECONDS ? undefined : { limit, remaining, reset };
}

/**
 * The recommended delay in milliseconds before the next request: until the reset if fewer than
 * `threshold` requests remain, otherwise undefined.
 */
export function checkRateLimit(
  info: RateLimitInfo,
  threshold: number = 10,
  now: number = Date.now(),
): number | undefined {
  if (!(info.remaining < threshold)) return undefined;
  const delay = calculateRateLimitDelay(info.reset, now);
  return delay > 0 ? delay : undefined;
}

import { findHeaders, type FoundHeaders, headerNames } from './headers.js';
import { parseHttpDate } from './dates.js';
import { MAX_PLAUSIBLE_WAIT_MS, parseDecimal, plausibleWait } from './numbers.js';

/**
 * The delay of `Retry-After` in milliseconds: a number of seconds, fractions included, or an HTTP
 * date. A past date is 0, unless it is implausibly long ago.
 */
export function retryAfter(headers: FoundHeaders, clock: ResponseClock): number | undefined {
  const text = headers.get('retry-after');
  if (text === undefined) return undefined;
  const seconds = parseDecimal(text);
  if (seconds !== undefined) return plausibleWait(seconds * 1000);
  const at = parseHttpDate(text, clock.now);
  if (at === undefined) return undefined;
  const wait = at - clock.serverNow();
  return wait < -MAX_PLAUSIBLE_WAIT_MS ? undefined : plausibleWait(Math.max(0, wait));
}

/** The delay of `retry-after-ms`, which OpenAI and Azure send. */
export function retryAfterMilliseconds(headers: FoundHeaders): number | undefined {
  const ms = parseDecimal(headers.get('retry-after-ms'));
  return ms === undefined ? undefined : plausibleWait(ms);
}

/** The time of a response on the local clock and on the server's, in epoch milliseconds. */
export interface ResponseClock {
  readonly now: number;
  readonly serverNow: () => number;
}

const CLOCK_HEADERS = headerNames(['date', 'age']);

/** `Date` has a resolution of one second plus latency, so smaller differences are not skew. */
const TOLERATED_SKEW_MS = 5000;

/**
 * Absolute times in a response are on the server's clock, so delays are computed from the response's
 * `Date`: a client clock that is two minutes fast would otherwise retry two minutes early. Ignored for
 * responses with `Age`, because a cache stores the original `Date`.
 */
export function responseClock(headers: unknown, now: number): ResponseClock {
  let measured: number | undefined;
  return { now, serverNow: () => (measured ??= serverTime(headers, now)) };
}

function serverTime(headers: unknown, now: number): number {
  const found = findHeaders(headers, CLOCK_HEADERS);
  const date = found?.get('date');
  if (date === undefined || found?.has('age')) return now;
  const server = parseHttpDate(date, now);
  if (server === undefined) return now;
  const skew = Math.abs(server - now);
  return skew > TOLERATED_SKEW_MS && skew <= MAX_PLAUSIBLE_WAIT_MS ? server : now;
}

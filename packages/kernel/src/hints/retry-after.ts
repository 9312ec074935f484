import { findHeaders, type FoundHeaders, headerNames } from './headers.js';
import { parseHttpDate } from './dates.js';
import { MAX_PLAUSIBLE_WAIT_MS, parseDecimal, plausibleWait } from './numbers.js';

/**
 * What `Retry-After` asks for, in milliseconds: a number of seconds (fractions are taken, because
 * their meaning is plain) or an HTTP date. A date that has passed is 0, the server's "now is fine",
 * unless it is so long ago that it is a mistake.
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

/** `retry-after-ms` of OpenAI and Azure. */
export function retryAfterMilliseconds(headers: FoundHeaders): number | undefined {
  const ms = parseDecimal(headers.get('retry-after-ms'));
  return ms === undefined ? undefined : plausibleWait(ms);
}

/** Our time, and the same moment on the server's clock. Milliseconds since the epoch. */
export interface ResponseClock {
  readonly now: number;
  readonly serverNow: () => number;
}

const CLOCK_HEADERS = headerNames(['date', 'age']);

/**
 * `Date` has whole seconds and travels some milliseconds, so a few seconds are not a skew, and our
 * own clock is then the finer one.
 */
const TOLERATED_SKEW_MS = 5000;

/**
 * Absolute times ("reset at", "retry after this date") are the server's. Measured on our clock they
 * are wrong by the skew between the two: a laptop that is two minutes ahead comes back two minutes
 * early, into a ban. So they are measured against the response's own `Date`, where it has one and
 * was not answered by a cache, whose `Date` is that of the stored response.
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

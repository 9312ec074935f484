import { findHeaders, headerNames } from './headers.js';
import { parseHttpDate } from './http-date.js';
import { MAX_PLAUSIBLE_WAIT_MS } from './plausible.js';

/** Our time, and the same moment on the server's clock. Milliseconds since the epoch. */
export interface Clock {
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
export function clockOf(headers: unknown, now: number): Clock {
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

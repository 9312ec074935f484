import type { Clock } from './clock.js';
import type { FoundHeaders } from './headers.js';
import { parseHttpDate } from './http-date.js';
import { parseDecimal } from './numbers.js';
import { MAX_PLAUSIBLE_WAIT_MS, plausibleWait } from './plausible.js';

/**
 * What `Retry-After` asks for, in milliseconds: a number of seconds (fractions are taken, because
 * their meaning is plain) or an HTTP date. A date that has passed is 0, the server's "now is fine",
 * unless it is so long ago that it is a mistake.
 */
export function retryAfter(headers: FoundHeaders, clock: Clock): number | undefined {
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

import type { RetryAfter } from '../chaos/rule.js';

/** The header's value; a date is one of HTTP. */
export function retryAfterValue(retryAfter: RetryAfter, now: number): string {
  if ('seconds' in retryAfter) return String(retryAfter.seconds);
  if ('raw' in retryAfter) return retryAfter.raw;
  // Dates have whole seconds: rounded up, so that nobody comes back too early.
  return new Date(Math.ceil(now / 1000 + retryAfter.dateInSeconds) * 1000).toUTCString();
}

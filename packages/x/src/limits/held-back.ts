import type { RateLimitInfo } from '@toolkeel/kernel';
import { UNSTATED_WINDOW } from './windows.js';

/** Resets are told in whole seconds. */
const ROUNDING_MS = 1000;

/**
 * The limits beside a refusal, so that nobody asks before the time that it names: also where it says
 * only how long to wait, or longer than its windows, or where those are over already.
 */
export function heldBack(
  told: readonly RateLimitInfo[],
  retryAfterMs: number | undefined,
  wallNow: number,
): readonly RateLimitInfo[] {
  const current = told.filter(({ reset }) => reset * 1000 > wallNow);
  if (retryAfterMs === undefined) return current;
  const until = wallNow + retryAfterMs;
  const isHeld = current.some(
    ({ remaining, reset }) => remaining <= 0 && reset * 1000 + ROUNDING_MS >= until,
  );
  if (isHeld) return current;
  const named = current.filter(({ name }) => name !== undefined);
  // Not rounded: whoever comes back when he was told to must be let in.
  const reset = until / 1000;
  return [...named, { limit: 0, remaining: 0, reset, limitUnknown: true, name: UNSTATED_WINDOW }];
}

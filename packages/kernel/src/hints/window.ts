import type { RateLimitInfo } from '../decide/rate-limit.js';
import type { Clock } from './clock.js';
import { MAX_PLAUSIBLE_WAIT_MS, roundUp } from './plausible.js';

/** One rate-limit window as a response showed it. */
export interface Window {
  /** Until it resets; negative when that moment has passed. */
  readonly waitMs: number;
  /** Undefined where the upstream named a reset, but no count. */
  readonly remaining: number | undefined;
  readonly limit: number | undefined;
  readonly name: string | undefined;
}

/** Names come from upstreams and end in logs and answers. */
const MAX_NAME_CHARS = 64;

/**
 * A reset further away than we believe any window to be, in either direction, means that the
 * numbers are not what they seem: milliseconds, a counter, a clock that was never set.
 */
export function isPlausible(window: Window): boolean {
  return Math.abs(window.waitMs) <= MAX_PLAUSIBLE_WAIT_MS;
}

/** The window as callers see it, on our clock; undefined if it has no count to show. */
export function toInfo(window: Window, clock: Clock): RateLimitInfo | undefined {
  const { remaining, limit, name, waitMs } = window;
  if (remaining === undefined || !Number.isFinite(clock.now)) return undefined;
  return {
    limit: limit ?? remaining,
    remaining,
    reset: roundUp((clock.now + waitMs) / 1000),
    ...(name !== undefined && name.length <= MAX_NAME_CHARS && { name }),
    ...(limit === undefined && { limitUnknown: true }),
  };
}

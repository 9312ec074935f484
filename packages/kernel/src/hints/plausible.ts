/**
 * The longest wait we believe. The longest windows that upstreams really have are a day (X's app
 * and user limits, "daily" quota policies); the hour on top is for clocks that disagree. Anything
 * longer is a unit mix-up (milliseconds read as seconds, a timestamp where a delay belongs) or an
 * upstream that means "go away", and neither is something to sleep on.
 */
export const MAX_PLAUSIBLE_WAIT_MS = 25 * 60 * 60 * 1000;

/** Below what any server can express, above what binary fractions of a second get wrong. */
const FLOAT_NOISE = 1e-6;

/** Rounds up, so that we never come back before the moment that was named. */
export function roundUp(value: number): number {
  return Math.max(0, Math.ceil(value - FLOAT_NOISE));
}

/** The wait in whole milliseconds, or undefined when nobody can have meant it. */
export function plausibleWait(ms: number): number | undefined {
  return ms >= 0 && ms <= MAX_PLAUSIBLE_WAIT_MS ? roundUp(ms) : undefined;
}

/** Whatever `setTimer` gave; only good for `clearTimer` of the same clock. */
export type Timer = unknown;

/** Time as the kernel sees it. Injected, so that tests and simulations can own it. */
export interface Clock {
  /** Monotonic milliseconds: for durations and deadlines. */
  now(): number;
  /** Epoch milliseconds: for what servers say ("resets at …"). May jump. */
  wallNow(): number;
  setTimer(delayMs: number, fire: () => void): Timer;
  clearTimer(timer: Timer): void;
}

/**
 * The process's own clock.
 *
 * Timers cannot wait less than a millisecond: below that the next turn of the event loop is nearer
 * to what was asked, and a fast upstream notices the difference. Above it they are rounded up: who
 * asked us to wait must not see us early.
 */
export const systemClock: Clock = {
  now: () => performance.now(),
  wallNow: () => Date.now(),
  setTimer: (delayMs, fire) =>
    delayMs < 1 ? setImmediate(fire) : setTimeout(fire, Math.ceil(delayMs)),
  clearTimer: (timer) => {
    const either = timer as NodeJS.Timeout | NodeJS.Immediate;
    // Only timeouts can be refreshed.
    if ('refresh' in either) clearTimeout(either);
    else clearImmediate(either);
  },
};

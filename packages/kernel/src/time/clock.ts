/** The handle that `setTimer` returned, for `clearTimer` of the same clock. */
export type Timer = unknown;

/** The source of time. Injected, so that tests and simulations can control it. */
export interface Clock {
  /** Monotonic milliseconds: for durations and deadlines. */
  now(): number;
  /** Epoch milliseconds: for times that servers send, such as a rate-limit reset. May jump. */
  wallNow(): number;
  setTimer(delayMs: number, fire: () => void): Timer;
  clearTimer(timer: Timer): void;
}

/**
 * The clock of the process.
 *
 * Node.js timers cannot wait less than a millisecond, so shorter delays use the next turn of the event
 * loop. Longer delays are rounded up, so that a retry is never earlier than the upstream asked for.
 */
export const systemClock: Clock = {
  now: () => performance.now(),
  wallNow: () => Date.now(),
  setTimer: (delayMs, fire) =>
    delayMs < 1 ? setImmediate(fire) : setTimeout(fire, Math.ceil(delayMs)),
  // Only timeouts can be refreshed.
  clearTimer: (timer) =>
    'refresh' in (timer as object)
      ? clearTimeout(timer as NodeJS.Timeout)
      : clearImmediate(timer as NodeJS.Immediate),
};

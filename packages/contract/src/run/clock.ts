/** Time as a run sees it. The kernel's `Clock` fits, and so does its virtual one. */
export interface RunClock {
  /** Milliseconds that only go forward; deadlines are on this clock. */
  now(): number;
  setTimer(delayMs: number, fire: () => void): unknown;
  clearTimer(timer: unknown): void;
}

/** The process's own clock. A timer is rounded up: a deadline must not come early. */
export const processClock: RunClock = {
  now: () => performance.now(),
  setTimer: (delayMs, fire) => setTimeout(fire, Math.ceil(delayMs)),
  clearTimer: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

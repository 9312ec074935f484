import type { Clock } from '@toolkeel/kernel';

/** Stands for the result of what took too long. */
export const TOO_LATE: unique symbol = Symbol('too late');

/** Node fires longer timers at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Undefined where nobody waits that long. */
function timerAt(clock: Clock, at: number, fire: () => void): unknown {
  const delay = Math.max(0, at - clock.now());
  return delay > LONGEST_TIMER_MS ? undefined : clock.setTimer(delay, fire);
}

/** A signal that is aborted at a time, or when another one is. `done` leaves nothing behind. */
export function signalUntil(
  clock: Clock,
  at: number,
  outer?: AbortSignal,
): { readonly signal: AbortSignal; readonly done: () => void } {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  const timer = timerAt(clock, at, abort);
  outer?.addEventListener('abort', abort, { once: true });
  if (outer?.aborted) abort();
  return {
    signal: controller.signal,
    done: () => {
      if (timer !== undefined) clock.clearTimer(timer);
      outer?.removeEventListener('abort', abort);
    },
  };
}

/** What a promise gives, or TOO_LATE at a time. The promise itself goes on. */
export function within<T>(
  clock: Clock,
  at: number,
  work: Promise<T>,
): Promise<T | typeof TOO_LATE> {
  return new Promise((resolve, reject) => {
    const timer = timerAt(clock, at, () => resolve(TOO_LATE));
    const done = (): void => {
      if (timer !== undefined) clock.clearTimer(timer);
    };
    work.then(
      (value) => {
        done();
        resolve(value);
      },
      (cause: unknown) => {
        done();
        reject(cause);
      },
    );
  });
}

import type { Clock } from '@toolkeel/kernel';

/** The result of work that exceeded its deadline. */
export const TOO_LATE: unique symbol = Symbol('too late');

/** Node fires longer timers immediately. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Sets no timer for a deadline that is too far away, such as Infinity. */
function setTimerAt(clock: Clock, at: number, fire: () => void): unknown {
  const delay = Math.max(0, at - clock.now());
  return delay > LONGEST_TIMER_MS ? undefined : clock.setTimer(delay, fire);
}

/** A signal that aborts at a time or with `outer`. `done` removes the timer and the listener. */
export function signalUntil(
  clock: Clock,
  at: number,
  outer?: AbortSignal,
): { readonly signal: AbortSignal; readonly done: () => void } {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  const timer = setTimerAt(clock, at, abort);
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

/** The result of `work`, or TOO_LATE at the deadline. The work itself is not cancelled. */
export function withDeadline<T>(
  clock: Clock,
  at: number,
  work: Promise<T>,
): Promise<T | typeof TOO_LATE> {
  return new Promise((resolve, reject) => {
    const timer = setTimerAt(clock, at, () => resolve(TOO_LATE));
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

export interface CallDeadlines {
  /** When the handler must end. */
  readonly handlerBy: number;
  /** When the caller must have its answer. */
  readonly answerBy: number;
}

/** Reserved between the answer and the deadline of the call. */
const ANSWER_MS = 20;
/** Reserved for reading back and settling after the handler. */
const SETTLE_MS = { share: 0.05, least: 20, most: 250 } as const;

/**
 * Splits the deadline of a call. The handler gets less time than the call, so that the journal can still
 * answer with what it knows about the send instead of a plain timeout.
 */
export function splitDeadline(deadline: number, now: number): CallDeadlines {
  if (deadline === Number.POSITIVE_INFINITY) return { handlerBy: deadline, answerBy: deadline };
  const left = Math.max(0, deadline - now);
  const answerBy = deadline - Math.min(ANSWER_MS, left / 4);
  const { share, least, most } = SETTLE_MS;
  const settle = Math.min(Math.max(left * share, least), most, left / 4);
  return { handlerBy: answerBy - settle, answerBy };
}

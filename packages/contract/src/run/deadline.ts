import type { RunClock } from './options.js';

/** What ended a call before its work did. */
export type StopReason = 'deadline' | 'cancelled';

/** How long a call may take, and who may end it. */
export interface CallBounds {
  readonly clock: RunClock;
  /** Infinity where there is none. */
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
}

interface Watcher<T> {
  /** The work is not done in its first turn: here is what ends it with a result of one's own. */
  readonly onPending?: ((end: (result: T) => void) => void) | undefined;
  /** The call is to end: from now on nothing new may begin. */
  readonly onStop: (why: StopReason) => void;
  /** What came after the answer, which no longer depends on it. */
  readonly onLate: (result: T) => void;
  readonly onLateFailure: (cause: unknown) => void;
}

/** Stands for the result of work that was stopped. */
export const STOPPED = Symbol('stopped');

/** Node fires longer timers at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
// Kept from the time of loading: a test that fakes the timers must not stop a cancellation.
const { setImmediate, clearImmediate } = globalThis;
const afterMicrotasks = process.nextTick.bind(process);

/** Why a call must not even begin. */
export function stopReasonAtStart({ clock, deadline, signal }: CallBounds): StopReason | undefined {
  if (signal?.aborted) return 'cancelled';
  return deadline !== Number.POSITIVE_INFINITY && clock.now() >= deadline ? 'deadline' : undefined;
}

/**
 * The result of the work, or STOPPED at the end of its time, whatever the work does. Work that stops by itself
 * when it is told to is given one turn of the event loop to say how it ended, because it knows
 * more: whether a byte was sent, for example. Nothing stays behind, neither timer nor listener; what
 * comes later is dropped.
 *
 * Neither time nor an abort can come between the beginning of the work and the end of the promises
 * that are ready, so only work that is not done by then pays for a timer and a listener: together
 * they cost more than all the rest of a quick call.
 */
export function withDeadline<T>(
  bounds: CallBounds,
  work: Promise<T>,
  watcher: Watcher<T>,
): Promise<T | typeof STOPPED> {
  const { onPending, onStop, onLate, onLateFailure } = watcher;
  return new Promise((resolve, reject) => {
    let over = false;
    let disarm: (() => void) | undefined;
    const isFirst = (): boolean => {
      if (over) return false;
      over = true;
      try {
        disarm?.();
      } catch (cause) {
        onLateFailure(cause);
      }
      return true;
    };
    const end = (result: T | typeof STOPPED): void => {
      if (isFirst()) resolve(result);
    };
    const fail = (cause: unknown): void => {
      if (isFirst()) reject(cause);
      else onLateFailure(cause);
    };
    work.then((result) => {
      if (isFirst()) resolve(result);
      else onLate(result);
    }, fail);
    afterMicrotasks(() => {
      if (over) return;
      try {
        disarm = arm(bounds, onStop, () => end(STOPPED));
        onPending?.(end);
      } catch (cause) {
        fail(cause);
      }
    });
  });
}

/** Calls `warn` when the deadline or the abort comes, and `end` a turn later. Gives what undoes it. */
function arm(
  { clock, deadline, signal }: CallBounds,
  warn: (why: StopReason) => void,
  end: () => void,
): () => void {
  let clearTimer = (): void => undefined;
  let warned = false;

  const setTimer = (delayMs: number, fire: () => void): void => {
    const timer = clock.setTimer(delayMs, fire);
    clearTimer = () => clock.clearTimer(timer);
  };
  const disarm = (): void => {
    try {
      clearTimer();
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  };
  const stop = (why: StopReason, lastTurn: (fire: () => void) => void): void => {
    if (warned) return;
    warned = true;
    try {
      disarm();
      warn(why);
      lastTurn(end);
    } catch {
      // A clock that fails now must not keep the answer back.
      end();
    }
  };
  // An abort does not wait for the injected clock: nobody may be moving it on.
  const onAbort = (): void =>
    stop('cancelled', (fire) => {
      const turn = setImmediate(fire);
      clearTimer = () => clearImmediate(turn);
    });
  const onTime = (): void => stop('deadline', (fire) => setTimer(0, fire));
  const wait = (): void => {
    const left = deadline - clock.now();
    if (Number.isNaN(left)) throw new TypeError('clock: must give numbers');
    if (left > LONGEST_TIMER_MS) setTimer(LONGEST_TIMER_MS, waitOn);
    else setTimer(left, onTime);
  };
  const waitOn = (): void => {
    try {
      wait();
    } catch {
      onTime();
    }
  };

  if (deadline !== Number.POSITIVE_INFINITY) wait();
  try {
    signal?.addEventListener('abort', onAbort);
  } catch (cause) {
    clearTimer();
    throw cause;
  }
  if (signal?.aborted) onAbort();
  return disarm;
}

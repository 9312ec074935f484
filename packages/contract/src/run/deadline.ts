import type { RunClock } from './options.js';

/** What stopped a call before its work was done. */
export type StopReason = 'deadline' | 'cancelled';

/** The deadline and the abort signal of a call. */
export interface CallBounds {
  readonly clock: RunClock;
  /** Infinity where there is none. */
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
}

interface Watcher<T> {
  /** Called if the work does not settle in its first turn, with a function that ends it early. */
  readonly onPending?: ((end: (result: T) => void) => void) | undefined;
  /** Called when the call is stopped: nothing new may start. */
  readonly onStop: (why: StopReason) => void;
  /** Receives a result that came after the call was stopped. */
  readonly onLate: (result: T) => void;
  readonly onLateFailure: (cause: unknown) => void;
}

/** The result of work that was stopped. */
export const STOPPED = Symbol('stopped');

/** Node.js fires longer timers immediately. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
// Captured at load time, so that fake timers in tests do not block a cancellation.
const { setImmediate, clearImmediate } = globalThis;
const afterMicrotasks = process.nextTick.bind(process);

/** Why a call must not start; undefined if it may. */
export function stopReasonAtStart({ clock, deadline, signal }: CallBounds): StopReason | undefined {
  if (signal?.aborted) return 'cancelled';
  return deadline !== Number.POSITIVE_INFINITY && clock.now() >= deadline ? 'deadline' : undefined;
}

/**
 * Resolves to the result of the work, or to STOPPED at the deadline or on an abort. Work that reacts to
 * the stop has one turn of the event loop to settle itself, because its own failure is more precise
 * (whether a byte was sent, for example). Leaves no timer or listener behind.
 *
 * The timer and the listener are only set if the work is still pending after its first turn: they cost
 * more than the rest of a fast call.
 */
export function withDeadline<T>(
  bounds: CallBounds,
  work: Promise<T>,
  watcher: Watcher<T>,
): Promise<T | typeof STOPPED> {
  const { onPending, onStop, onLate, onLateFailure } = watcher;
  return new Promise((resolve, reject) => {
    let settled = false;
    let disarm: (() => void) | undefined;
    const isFirst = (): boolean => {
      if (settled) return false;
      settled = true;
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
      if (settled) return;
      try {
        disarm = arm(bounds, onStop, () => end(STOPPED));
        onPending?.(end);
      } catch (cause) {
        fail(cause);
      }
    });
  });
}

/** Calls `warn` at the deadline or abort and `end` one turn later. Returns a function that disarms it. */
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
      // An error of the clock must not delay the answer.
      end();
    }
  };
  // Independent of the injected clock, which may be stopped.
  const onAbort = (): void =>
    stop('cancelled', (fire) => {
      const turn = setImmediate(fire);
      clearTimer = () => clearImmediate(turn);
    });
  const onTime = (): void => stop('deadline', (fire) => setTimer(0, fire));
  const wait = (): void => {
    const left = deadline - clock.now();
    if (Number.isNaN(left)) throw new TypeError('clock: must give numbers');
    if (left > LONGEST_TIMER_MS) setTimer(LONGEST_TIMER_MS, continueWaiting);
    else setTimer(left, onTime);
  };
  const continueWaiting = (): void => {
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

import type { Waiters } from '../waiters.js';

const FIRST_MS = 2;
const LONGEST_MS = 100;
/** The pause after a poll is at least this multiple of its duration, which limits the load of many waiters. */
const PAUSE_FACTOR = 10;

export interface EndedSource {
  /** Changes whenever another process has written. */
  readonly version: () => unknown;
  /** The ids that are no longer in flight. */
  readonly ended: (ids: readonly string[]) => readonly string[];
}

/**
 * Polls for operations that other processes have ended, and wakes the callers that wait for them. Polls
 * only while a caller waits, with growing intervals: most waits are short.
 */
export function pollForEnded(
  { version, ended }: EndedSource,
  { wake, waitedFor }: Pick<Waiters, 'wake' | 'waitedFor'>,
): { readonly start: () => void; readonly stop: () => void } {
  let timer: NodeJS.Timeout | undefined;
  let seen: unknown;
  let dueAt = 0;
  let pauseUntil = 0;

  const poll = (ids: readonly string[]): void => {
    try {
      const now = version();
      if (now === seen) return;
      seen = now;
      for (const id of ended(ids)) wake('ended', id);
    } catch {
      // The waiting callers read the operation themselves and get the error.
      for (const id of ids) wake('ended', id);
    }
  };
  const schedule = (delay: number): void => {
    const from = performance.now();
    dueAt = Math.max(from + delay, pauseUntil);
    timer = setTimeout(() => {
      timer = undefined;
      const ids = waitedFor();
      // No caller waits: the next one starts the polling again.
      if (ids.length === 0) return;
      const begun = performance.now();
      poll(ids);
      const now = performance.now();
      pauseUntil = now + PAUSE_FACTOR * (now - begun);
      schedule(Math.min(LONGEST_MS, delay * 1.5));
    }, dueAt - from);
  };
  const stop = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  return {
    start: () => {
      // A new waiter reads the operation itself first, so the next poll is early enough.
      if (timer !== undefined && dueAt <= performance.now() + FIRST_MS) return;
      stop();
      schedule(FIRST_MS);
    },
    stop,
  };
}

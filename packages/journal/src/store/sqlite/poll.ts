import type { Waiters } from '../waiters.js';

const FIRST_MS = 2;
const LONGEST_MS = 100;
/** Between two looks there are so many times what a look took: many who wait must not hold up the rest. */
const REST = 10;

export interface Others {
  /** Something that changes whenever another process has written. */
  readonly version: () => unknown;
  /** Those among these that nobody works on any more. */
  readonly ended: (ids: readonly string[]) => readonly string[];
}

/**
 * Tells whoever waits here when another process has ended what he waits for. Looks only while somebody
 * waits, soon at first and then less often: most waits are short.
 */
export function pollForOthers(
  { version, ended }: Others,
  { wake, waitedFor }: Pick<Waiters, 'wake' | 'waitedFor'>,
): { readonly start: () => void; readonly stop: () => void } {
  let timer: NodeJS.Timeout | undefined;
  let seen: unknown;
  let dueAt = 0;
  let restUntil = 0;

  const look = (ids: readonly string[]): void => {
    try {
      const now = version();
      if (now === seen) return;
      seen = now;
      for (const id of ended(ids)) wake('ended', id);
    } catch {
      // It could not be asked: whoever waits looks himself, and hears why not.
      for (const id of ids) wake('ended', id);
    }
  };
  const schedule = (delay: number): void => {
    const from = performance.now();
    dueAt = Math.max(from + delay, restUntil);
    timer = setTimeout(() => {
      timer = undefined;
      const ids = waitedFor();
      // Nobody waits any more, or nobody has begun yet: the next one starts it again.
      if (ids.length === 0) return;
      const begun = performance.now();
      look(ids);
      const now = performance.now();
      restUntil = now + REST * (now - begun);
      schedule(Math.min(LONGEST_MS, delay * 1.5));
    }, dueAt - from);
  };
  const stop = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  return {
    start: () => {
      // What another process wrote since the last look may be what the newcomer waits for: he looks himself.
      if (timer !== undefined && dueAt <= performance.now() + FIRST_MS) return;
      stop();
      schedule(FIRST_MS);
    },
    stop,
  };
}

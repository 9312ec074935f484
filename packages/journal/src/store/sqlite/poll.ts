import type { Waiters } from '../waiters.js';

const FIRST_MS = 2;
const LONGEST_MS = 100;

/**
 * Tells whoever waits here when another process has written. Looks only while somebody waits, soon at
 * first and then less often: most waits are short.
 */
export function pollForOthers(
  version: () => unknown,
  { tellAll, size }: Pick<Waiters, 'tellAll' | 'size'>,
): { readonly start: () => void; readonly stop: () => void } {
  let timer: NodeJS.Timeout | undefined;
  let seen: unknown;

  /** Undefined when it could not be asked: whoever waits looks himself, and hears why not. */
  const look = (): unknown => {
    try {
      return version();
    } catch {
      return undefined;
    }
  };
  const schedule = (delay: number): void => {
    timer = setTimeout(() => {
      timer = undefined;
      // Nobody waits any more, or nobody has begun yet: the next one starts it again.
      if (size() === 0) return;
      const now = look();
      if (now === undefined || now !== seen) tellAll();
      seen = now;
      schedule(Math.min(LONGEST_MS, delay * 1.5));
    }, delay);
  };
  const stop = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  return {
    start: () => {
      stop();
      seen = look();
      schedule(FIRST_MS);
    },
    stop,
  };
}

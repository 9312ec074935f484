import { setTimeout as sleep } from 'node:timers/promises';
import { isBusy, lockedTooLong, sqliteError } from './errors.js';

/** How long one attempt at a lock may hold up this process's event loop. */
export const BUSY_MS = 40;

export type Patiently = <T>(action: () => T) => Promise<T>;

/** Waits for other processes without holding up this one for long. */
export function patience(path: string, patienceMs: number): Patiently {
  return async (action) => {
    const start = performance.now();
    for (let attempt = 0; ; attempt++) {
      try {
        return action();
      } catch (error) {
        if (!isBusy(error)) throw sqliteError(error, path);
        const waited = performance.now() - start;
        if (waited > patienceMs) throw lockedTooLong(path, waited, error);
        await sleep(Math.random() * Math.min(50, 2 ** attempt));
      }
    }
  };
}

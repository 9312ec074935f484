import { setTimeout as sleep } from 'node:timers/promises';
import type { Script } from '../script.js';
import { batches } from './batches.js';
import type { SqliteDriver } from './driver.js';
import { isBusy, lockedTooLong, sqliteError } from './errors.js';
import { toSqlite } from './statement.js';

/** How long one attempt at a lock may hold up this process's event loop. */
export const BUSY_MS = 40;

export interface Connection {
  readonly read: <T>(script: () => Script<T>) => Promise<T>;
  /** All or nothing. */
  readonly write: <T>(script: () => Script<T>) => Promise<T>;
}

/** Scripts run in one go: nothing of this process comes between, other processes wait for the lock. */
export function connection(driver: SqliteDriver, path: string, patienceMs: number): Connection {
  const run = <T>(script: Script<T>): T => {
    let step = script.next();
    while (step.done !== true) {
      const { text, values } = toSqlite(step.value);
      step = script.next(driver.rows(text, values, step.value.wants));
    }
    return step.value;
  };

  /** Waits for other processes without holding up this one for long. */
  const patiently = async <T>(action: () => T): Promise<T> => {
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

  const write = batches(driver, patiently);
  return {
    read: (script) => patiently(() => run(script())),
    write: async (script) => {
      try {
        return await write(() => run(script()));
      } catch (error) {
        throw sqliteError(error, path);
      }
    },
  };
}

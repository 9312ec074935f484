import type { Script } from '../script.js';
import { batches } from './batches.js';
import type { SqliteDriver } from './driver.js';
import { sqliteError } from './errors.js';
import type { Patiently } from './patience.js';
import { toSqlite } from './statement.js';

export interface Connection {
  readonly read: <T>(script: () => Script<T>) => Promise<T>;
  /** All or nothing. */
  readonly write: <T>(script: () => Script<T>) => Promise<T>;
}

/** Scripts run in one go: nothing of this process comes between, other processes wait for the lock. */
export function connection(driver: SqliteDriver, path: string, patiently: Patiently): Connection {
  const run = <T>(script: Script<T>): T => {
    let step = script.next();
    while (step.done !== true) {
      const { text, values } = toSqlite(step.value);
      step = script.next(driver.rows(text, values, step.value.wants));
    }
    return step.value;
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

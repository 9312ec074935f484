import type { Script } from '../script.js';
import { batches, type End } from './batches.js';
import type { SqliteDriver } from './driver.js';
import { sqliteError } from './errors.js';
import type { Head } from './head-file.js';
import type { Patiently } from './patience.js';
import { toSqlite } from './statement.js';

export interface Connection {
  readonly read: <T>(script: () => Script<T>) => Promise<T>;
  /** All or nothing. */
  readonly write: <T>(script: () => Script<T>) => Promise<T>;
}

/** Follows what transitions append to the audit. */
export interface AuditFollower {
  /** The last row that the transition has appended which has just run. */
  readonly appended: () => Head | undefined;
  readonly committed: (head: Head) => void;
}

interface Written<T> {
  readonly value: T;
  readonly head: Head | undefined;
}

/** Scripts run in one go: nothing of this process comes between, other processes wait for the lock. */
export function connection(
  driver: SqliteDriver,
  path: string,
  patiently: Patiently,
  audit?: AuditFollower,
): Connection {
  const run = <T>(script: Script<T>): T => {
    let step = script.next();
    while (step.done !== true) {
      const { text, values } = toSqlite(step.value);
      step = script.next(driver.rows(text, values, step.value.wants));
    }
    return step.value;
  };

  const write = batches(driver, patiently, (ends) => {
    const head = audit && lastHead(ends);
    if (head !== undefined) audit!.committed(head);
  });
  return {
    read: (script) => patiently(() => run(script())),
    write: async (script) => {
      try {
        const written = await write(() => {
          const value = run(script());
          return { value, head: audit?.appended() };
        });
        return written.value;
      } catch (error) {
        throw sqliteError(error, path);
      }
    },
  };
}

/** Of the transitions that were not rolled back. */
function lastHead(ends: readonly End[]): Head | undefined {
  for (let i = ends.length - 1; i >= 0; i -= 1) {
    const end = ends[i]!;
    const head = 'value' in end ? (end.value as Written<unknown>).head : undefined;
    if (head !== undefined) return head;
  }
  return undefined;
}

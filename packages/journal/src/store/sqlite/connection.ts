import { setTimeout as sleep } from 'node:timers/promises';
import { keepable } from '../../text.js';
import type { Query, Script } from '../script.js';
import type { SqliteDriver } from './drivers.js';
import { isBusy, lockedTooLong, sqliteError } from './errors.js';
import type { Head } from './lost-commits.js';

export interface Connection {
  readonly read: <T>(script: () => Script<T>) => Promise<T>;
  /** Atomic, and durable when it resolves, unless it is `unsynced`. */
  readonly write: <T>(script: () => Script<T>, durability?: Durability) => Promise<T>;
}

/** `unsynced`: survives the end of this process, but a crash of the machine may lose it. */
type Durability = 'durable' | 'unsynced';

/** Tracks the audit rows of committed transitions. */
interface AuditFollower {
  /** The last row appended by the transition that has just run. */
  readonly appended: () => Head | undefined;
  readonly committed: (head: Head) => void;
}

interface Written<T> {
  readonly value: T;
  readonly head: Head | undefined;
}

/** Runs scripts synchronously: transitions of this process never interleave, other processes wait for the lock. */
export function connection(
  driver: SqliteDriver,
  path: string,
  retryBusy: BusyRetry,
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

  const write = batchedWrites(driver, retryBusy, (ends) => {
    const head = audit && lastHead(ends);
    if (head !== undefined) audit!.committed(head);
  });
  return {
    read: (script) => retryBusy(() => run(script())),
    write: async (script, durability) => {
      try {
        const written = await write(() => {
          const value = run(script());
          return { value, head: audit?.appended() };
        }, durability);
        return written.value;
      } catch (error) {
        throw sqliteError(error, path);
      }
    },
  };
}

/** The last audit row of the transitions that were not rolled back. */
function lastHead(ends: readonly End[]): Head | undefined {
  for (let i = ends.length - 1; i >= 0; i -= 1) {
    const end = ends[i]!;
    const head = 'value' in end ? (end.value as Written<unknown>).head : undefined;
    if (head !== undefined) return head;
  }
  return undefined;
}

/** The maximum number of transitions per commit, which limits how long other processes wait for the lock. */
const MAX_BATCH = 64;

interface Job {
  readonly work: () => unknown;
  readonly durability: Durability;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

type End = { readonly value: unknown } | { readonly error: unknown };

/**
 * Group commit: concurrent transitions share one transaction, because syncing each commit to the disk
 * dominates their cost. Each transition is still atomic, and none resolves before the commit is on the
 * disk and `onCommit` has returned. A batch of nothing but unsynced transitions does not wait for the disk.
 */
export function batchedWrites(
  driver: Pick<SqliteDriver, 'exec' | 'inTransaction'>,
  retryBusy: BusyRetry,
  onCommit: (ends: readonly End[]) => void = () => undefined,
): <T>(work: () => T, durability?: Durability) => Promise<T> {
  const waiting: Job[] = [];
  let isScheduled = false;
  /** As the connection was opened. */
  let current: Durability = 'durable';
  const setDurability = (next: Durability): void => {
    if (next === current) return;
    driver.exec(`PRAGMA synchronous = ${next === 'durable' ? 'FULL' : 'NORMAL'}`);
    current = next;
  };

  const flush = async (): Promise<void> => {
    const taken: Job[] = [];
    try {
      // Transitions that arrive while this waits for the lock join the batch.
      const ends = await retryBusy(() => {
        const isUnsynced = waiting.every(({ durability }) => durability === 'unsynced');
        setDurability(isUnsynced ? 'unsynced' : 'durable');
        driver.exec('BEGIN IMMEDIATE');
        taken.push(...waiting.splice(0, MAX_BATCH));
        return commit(driver, taken);
      });
      onCommit(ends);
      for (const [index, { resolve, reject }] of taken.entries()) {
        const end = ends[index]!;
        if ('error' in end) reject(end.error);
        else resolve(end.value as never);
      }
    } catch (error) {
      const failed = taken.length > 0 ? taken : waiting.splice(0);
      for (const { reject } of failed) reject(error);
    }
    isScheduled = waiting.length > 0;
    if (isScheduled) setImmediate(() => void flush());
  };

  return <T>(work: () => T, durability: Durability = 'durable') =>
    new Promise<T>((resolve, reject) => {
      waiting.push({ work, durability, resolve, reject });
      if (isScheduled) return;
      isScheduled = true;
      setImmediate(() => void flush());
    });
}

/** Runs the jobs in the open transaction and commits. Throws if none of them took effect. */
function commit(
  driver: Pick<SqliteDriver, 'exec' | 'inTransaction'>,
  jobs: readonly Job[],
): readonly End[] {
  try {
    const ends =
      jobs.length === 1
        ? [{ value: jobs[0]!.work() }]
        : jobs.map((job) => runInSavepoint(driver, job));
    driver.exec('COMMIT');
    return ends;
  } catch (error) {
    rollBack(driver);
    throw error;
  }
}

/** A failed job is rolled back alone, unless it ended the whole transaction. */
function runInSavepoint(driver: Pick<SqliteDriver, 'exec' | 'inTransaction'>, { work }: Job): End {
  driver.exec('SAVEPOINT job');
  try {
    const value = work();
    driver.exec('RELEASE job');
    return { value };
  } catch (error) {
    if (!driver.inTransaction()) throw error;
    driver.exec('ROLLBACK TO job');
    driver.exec('RELEASE job');
    return { error };
  }
}

/** Some errors roll the transaction back themselves. */
function rollBack(driver: Pick<SqliteDriver, 'exec' | 'inTransaction'>): void {
  try {
    if (driver.inTransaction()) driver.exec('ROLLBACK');
  } catch {
    // The original error is the one to report.
  }
}

/** How long one attempt to lock may block the event loop. */
export const BUSY_MS = 40;

export type BusyRetry = <T>(action: () => T) => Promise<T>;

/** Retries while other processes hold the lock, without blocking the event loop for long. */
export function busyRetry(path: string, timeoutMs: number): BusyRetry {
  return async (action) => {
    const start = performance.now();
    for (let attempt = 0; ; attempt++) {
      try {
        return action();
      } catch (error) {
        if (!isBusy(error)) throw sqliteError(error, path);
        const waited = performance.now() - start;
        if (waited > timeoutMs) throw lockedTooLong(path, waited, error);
        await sleep(Math.random() * Math.min(50, 2 ** attempt));
      }
    }
  };
}

const compiled = new Map<string, string>();

/** Replaces the placeholders of PostgreSQL. */
function toSqlite({ text, values }: Query): {
  readonly text: string;
  readonly values: readonly unknown[];
} {
  let found = compiled.get(text);
  if (found === undefined) compiled.set(text, (found = withQuestionMarks(text)));
  return { text: found, values: values.map(toValue) };
}

const PLACEHOLDER = /\$(\d+)/g;

/**
 * `$1` becomes `?1`, so that a value used several times is bound once. Where each value is used once and in
 * order, it becomes `?`: `node:sqlite` searches the names of all placeholders for each value that it binds.
 */
function withQuestionMarks(text: string): string {
  const isInOrder = [...text.matchAll(PLACEHOLDER)].every(([, n], i) => Number(n) === i + 1);
  return text.replaceAll(PLACEHOLDER, isInOrder ? '?' : '?$1');
}

function toValue(value: unknown): unknown {
  return typeof value === 'string' ? keepable(value) : (value ?? null);
}

import type { SqliteDriver } from './driver.js';
import type { Patiently } from './patience.js';

/** So many transitions at most share a commit, so that nobody else waits long for the lock. */
const MOST = 64;

interface Job {
  readonly work: () => unknown;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

export type End = { readonly value: unknown } | { readonly error: unknown };

/**
 * Transitions that are asked for at the same time share one transaction: what makes them slow is that
 * the disk has to confirm each commit. Each is still all or nothing by itself, and none is told to be
 * done before all are on the disk and `onCommit` has returned.
 */
export function batches(
  driver: Pick<SqliteDriver, 'exec' | 'inTransaction'>,
  patiently: Patiently,
  onCommit: (ends: readonly End[]) => void = () => undefined,
): <T>(work: () => T) => Promise<T> {
  const waiting: Job[] = [];
  let isScheduled = false;

  const flush = async (): Promise<void> => {
    const taken: Job[] = [];
    try {
      // Whoever comes while we wait for the lock comes along.
      const ends = await patiently(() => {
        driver.exec('BEGIN IMMEDIATE');
        taken.push(...waiting.splice(0, MOST));
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

  return <T>(work: () => T) =>
    new Promise<T>((resolve, reject) => {
      waiting.push({ work, resolve, reject });
      if (isScheduled) return;
      isScheduled = true;
      setImmediate(() => void flush());
    });
}

/** In an open transaction. Gives how each ended; throws when none of them happened. */
function commit(
  driver: Pick<SqliteDriver, 'exec' | 'inTransaction'>,
  jobs: readonly Job[],
): readonly End[] {
  try {
    const ends =
      jobs.length === 1 ? [{ value: jobs[0]!.work() }] : jobs.map((job) => apart(driver, job));
    driver.exec('COMMIT');
    return ends;
  } catch (error) {
    rollBack(driver);
    throw error;
  }
}

/** One of several: its failure leaves the others as they are, unless it ended the transaction. */
function apart(driver: Pick<SqliteDriver, 'exec' | 'inTransaction'>, { work }: Job): End {
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

/** Some failures have rolled back already, and then there is nothing left to do. */
function rollBack(driver: Pick<SqliteDriver, 'exec' | 'inTransaction'>): void {
  try {
    if (driver.inTransaction()) driver.exec('ROLLBACK');
  } catch {
    // The failure that brought us here is the one to tell.
  }
}

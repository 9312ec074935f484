import type { AuditRow } from '../../audit/chain.js';
import { JournalError } from '../../error.js';
import { systemProcesses, type ProcessTable } from '../../owner/process.js';
import { createStore } from '../create-store.js';
import type { Wakeup } from '../record.js';
import type { Script } from '../script.js';
import { type Dialect, first, rows, run } from '../sql/dialect.js';
import { isCurrent, migrate, refuseIfNewer } from '../sql/schema.js';
import { sqlTables } from '../sql/tables.js';
import type { JournalStore } from '../store.js';
import type { Tables } from '../tables.js';
import { waiters, waitFor } from '../waiters.js';
import { clockSkew, type Heartbeat } from './clock-skew.js';
import { BUSY_MS, connection, type Connection, busyRetry, type BusyRetry } from './connection.js';
import { chooseDriver, type OpenDriver, type SqliteDriver } from './drivers.js';
import { prepareFile, fileGuard } from './files.js';
import {
  type Head,
  needsRecord,
  openVerifiedHeads,
  refuseIfDamaged,
  refuseIfLost,
  type VerifiedHeads,
} from './lost-commits.js';
import { pollForEnded } from './poll.js';

export interface SqliteStoreOptions {
  readonly path: string;
  /** Milliseconds since 1970. Default: the system clock. */
  readonly now?: () => number;
  /** The number of calls to keep. Default: 100,000. */
  readonly calls?: number;
  /** How long to wait for the lock of other processes. Default: 10 s. */
  readonly timeoutMs?: number;
  readonly driver?: OpenDriver;
  /** Milliseconds on a monotonic clock. Default: `performance.now`. */
  readonly elapsed?: () => number;
  /** Default: the process table of the system. */
  readonly processes?: ProcessTable;
}

type PendingWakeup = readonly [wakeup: Wakeup, id: string];

const STILL_WORKED_ON = `SELECT id FROM operations
  WHERE id IN (SELECT value FROM json_each(?)) AND owner IS NOT NULL AND state IN ('claimed', 'sending')`;

/** The latest registration of each process. */
const HEARTBEATS = `SELECT id, host, pid, started_at AS "startedAt", beat_at AS "beatAt", lease_until AS "leaseUntil"
  FROM owners WHERE rowid IN (SELECT MAX(rowid) FROM owners WHERE beat_at IS NOT NULL GROUP BY host, pid, started_at)`;

export async function sqliteStore(options: SqliteStoreOptions): Promise<JournalStore> {
  const { path, now = Date.now, calls = 100_000, timeoutMs = 10_000 } = options;
  const { processes = systemProcesses, elapsed = () => performance.now() } = options;
  const open = options.driver ?? (await chooseDriver());
  prepareFile(path);
  const retryBusy = busyRetry(path, timeoutMs);
  refuseIfDamaged(path);
  const driver = await openDatabase(open, path, retryBusy);
  const assertSameFile = fileGuard(path, elapsed);

  let time = now();
  const dialect: Dialect = {
    kind: 'sqlite',
    prefix: '',
    clock: (values) => `$${values.push(time)}`,
    lock: '',
    skipLocked: '',
    packsRows: true,
  };
  let heads: VerifiedHeads;
  try {
    const setup = connection(driver, path, retryBusy);
    await prepareSchema(setup, dialect, path);
    heads = await openVerifiedHeads(path, setup);
  } catch (error) {
    driver.close();
    throw error;
  }
  const { caution } = heads;
  let appended: Head | undefined;
  const { read, write } = connection(driver, path, retryBusy, {
    appended: () => appended,
    committed: heads.write,
  });

  const waiting = waiters();
  const poller = pollForEnded(
    {
      version: () => driver.rows('PRAGMA data_version', [])[0]?.['data_version'],
      ended: (ids) => {
        const busy = driver.rows(STILL_WORKED_ON, [JSON.stringify(ids)]).map(({ id }) => id);
        return ids.filter((id) => !busy.includes(id));
      },
    },
    waiting,
  );
  // Transitions never interleave, so all of them share one instance of the tables.
  let wakeups: PendingWakeup[] = [];
  const wake = (wakeup: Wakeup, id: string): void => void wakeups.push([wakeup, id]);
  const onAudit = (row: AuditRow): void => {
    if (needsRecord(row)) appended = row;
  };
  const tables = sqlTables({ now: () => time, calls, dialect, writes: true, wake, onAudit });
  const begin = <T>(script: (tables: Tables) => Script<T>): Script<T> => {
    time = now();
    wakeups = [];
    appended = undefined;
    return script(tables);
  };

  const writeAs = async <T>(
    durability: 'durable' | 'unsynced',
    script: (tables: Tables) => Script<T>,
  ): Promise<T> => {
    assertSameFile();
    let own: readonly PendingWakeup[] = [];
    const value = await write(() => {
      const begun = begin(script);
      own = wakeups;
      return begun;
    }, durability);
    for (const [wakeup, id] of own) waiting.wake(wakeup, id);
    return value;
  };

  const skewOf = clockSkew({ path, processes, elapsed });
  const store = createStore({
    kind: 'sqlite',
    ...(caution !== undefined && { caution }),
    refuseIfUnfit: function* () {
      yield* refuseIfNewer(dialect, path);
      yield* refuseIfLost(path, heads);
    },
    findSkew: function* () {
      const found = yield* rows(HEARTBEATS);
      return skewOf(found as unknown as readonly Heartbeat[], time);
    },
    read: async (script) => {
      assertSameFile();
      return read(() => begin(script));
    },
    write: (script) => writeAs('durable', script),
    writeUnsynced: (script) => writeAs('unsynced', script),
    wait: (id, signal) => {
      poller.start();
      return waitFor(id, signal, store.get, waiting);
    },
    onApproved: waiting.onApproved,
    close: async () => {
      poller.stop();
      waiting.wakeAll();
      closeDatabase(driver);
      heads.close();
    },
  });
  return store;
}

/** Retries, because another process may lock the whole file for a moment, for example while closing it. */
async function openDatabase(
  open: OpenDriver,
  path: string,
  retryBusy: BusyRetry,
): Promise<SqliteDriver> {
  const driver = await retryBusy(() => open(path, BUSY_MS));
  try {
    await retryBusy(() => driver.exec('PRAGMA synchronous = FULL'));
    return driver;
  } catch (error) {
    driver.close();
    throw error;
  }
}

/** Checkpoints the write-ahead log, so that the database file alone is complete. */
function closeDatabase(driver: SqliteDriver): void {
  try {
    driver.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch {
    // Other processes use the log, or it is damaged; it is recovered at the next open.
  }
  driver.close();
}

/** Marks the database as a journal, which protects the files of other programs. */
const APPLICATION_ID = 0x746b_6a31;

/** Creates or migrates the schema; safe to run in several processes at once. */
export async function prepareSchema(
  { read, write }: Connection,
  dialect: Dialect,
  path: string,
): Promise<void> {
  const isReady = await read(function* () {
    const id = (yield* first('PRAGMA application_id'))?.['application_id'];
    const objects = (yield* first('SELECT count(*) AS n FROM sqlite_schema'))?.['n'];
    if (objects === 0) return false;
    if (id !== APPLICATION_ID) throw notOurs(path);
    return yield* isCurrent(dialect, path);
  });
  // WAL: readers and the writer do not block each other.
  await read(() => rows('PRAGMA journal_mode = WAL'));
  if (isReady) return;
  await write(function* () {
    yield* run(`PRAGMA application_id = ${APPLICATION_ID}`);
    yield* migrate(dialect, path);
  });
}

function notOurs(path: string): JournalError {
  return new JournalError(
    'invalid',
    `${path} is a database of another program. Nothing was changed. Set another file in journal.url.`,
  );
}

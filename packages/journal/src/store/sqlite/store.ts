import type { AuditRow } from '../../audit/chain.js';
import { systemProcesses, type ProcessTable } from '../../owner/process.js';
import { createStore } from '../create-store.js';
import type { Script } from '../script.js';
import { type Dialect, first, rows, run } from '../sql/dialect.js';
import { isCurrent, migrate, refuseIfNewer } from '../sql/schema.js';
import { sqlTables } from '../sql/tables.js';
import type { JournalStore } from '../store.js';
import type { Tables } from '../tables.js';
import { waiters, waitFor } from '../waiters.js';
import { chooseDriver, type OpenDriver, type SqliteDriver } from './drivers.js';
import { clockSkew, type Heartbeat } from './clock-skew.js';
import { BUSY_MS, connection, type Connection, busyRetry, type BusyRetry } from './connection.js';
import { prepareFile, fileGuard } from './files.js';
import {
  type Head,
  needsRecord,
  openVerifiedHeads,
  refuseIfDamaged,
  refuseIfLost,
  type VerifiedHeads,
} from './lost-commits.js';
import { pollForOthers } from './poll.js';
import { JournalError } from '../../error.js';

export interface SqliteStoreOptions {
  readonly path: string;
  /** Milliseconds since 1970. Default: the machine's clock, which all its processes share. */
  readonly now?: () => number;
  /** How many calls are kept. Default 100,000. */
  readonly calls?: number;
  /** How long to wait for other processes that write. Default 10 s. */
  readonly timeoutMs?: number;
  readonly driver?: OpenDriver;
  /** Milliseconds on a clock that is never set. Default: the process's. */
  readonly elapsed?: () => number;
  /** Default: as the system says. */
  readonly processes?: ProcessTable;
}

type Wakeup = [what: 'ended' | 'approved', id: string];

const STILL_WORKED_ON = `SELECT id FROM operations
  WHERE id IN (SELECT value FROM json_each(?)) AND owner IS NOT NULL AND state IN ('claimed', 'sending')`;

/** One for each process: it has left the ids that it was registered under before. */
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
  const others = pollForOthers(
    {
      version: () => driver.rows('PRAGMA data_version', [])[0]?.['data_version'],
      ended: (ids) => {
        const busy = driver.rows(STILL_WORKED_ON, [JSON.stringify(ids)]).map(({ id }) => id);
        return ids.filter((id) => !busy.includes(id));
      },
    },
    waiting,
  );
  // Transitions run one after the other, each in one go, so that all can use the same tables.
  let news: Wakeup[] = [];
  const wake = (what: 'ended' | 'approved', id: string): string => {
    news.push([what, id]);
    return '';
  };
  const onAudit = (row: AuditRow): void => {
    if (needsRecord(row)) appended = row;
  };
  const tables = sqlTables({ now: () => time, calls, dialect, writes: true, wake, onAudit });
  const begin = <T>(script: (tables: Tables) => Script<T>): Script<T> => {
    time = now();
    news = [];
    appended = undefined;
    return script(tables);
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
    write: async <T>(script: (tables: Tables) => Script<T>) => {
      assertSameFile();
      let told: readonly Wakeup[] = [];
      const value = await write(() => {
        const begun = begin(script);
        told = news;
        return begun;
      });
      for (const [what, id] of told) waiting.wake(what, id);
      return value;
    },
    wait: (id, signal) => {
      others.start();
      return waitFor(id, signal, store.get, waiting);
    },
    onApproved: waiting.onApproved,
    close: async () => {
      others.stop();
      waiting.wakeAll();
      closeDatabase(driver);
      heads.close();
    },
  });
  return store;
}

/** Another process may have the whole file to itself for a moment, such as one that closes it. */
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

/** What is still in the log goes into the file, so that the file alone is a whole journal. */
function closeDatabase(driver: SqliteDriver): void {
  try {
    driver.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch {
    // Others still use it, or it is damaged: the log is read when it is opened next.
  }
  driver.close();
}

/** Marks a database as a journal, so that nobody writes into another program's file. */
const APPLICATION_ID = 0x746b_6a31;

/** Makes or brings up to date what is in the file; several processes may do that at once. */
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
  // Readers and the one writer do not hinder each other.
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
    `${path} is a database of another program. Nothing was changed. Name another file in journal.url.`,
  );
}

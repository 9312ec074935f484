import { assemble } from '../assemble.js';
import type { Script } from '../script.js';
import type { Dialect } from '../sql/dialect.js';
import { refuseIfNewer } from '../sql/migrate.js';
import { sqlTables } from '../sql/tables.js';
import type { JournalStore } from '../store.js';
import type { Tables } from '../tables.js';
import { waiters, waitFor } from '../waiters.js';
import { chooseDriver } from './choose-driver.js';
import { connection } from './connection.js';
import type { OpenDriver, SqliteDriver } from './driver.js';
import { prepareFile } from './files.js';
import { BUSY_MS, patience, type Patiently } from './patience.js';
import { pollForOthers } from './poll.js';
import { sameFile } from './same-file.js';
import { prepareSchema } from './schema.js';

export interface SqliteStoreOptions {
  readonly path: string;
  /** Milliseconds since 1970. Default: the machine's clock, which all its processes share. */
  readonly now?: () => number;
  /** How many calls are kept. Default 100,000. */
  readonly calls?: number;
  /** How long to wait for other processes that write. Default 10 s. */
  readonly patienceMs?: number;
  readonly driver?: OpenDriver;
}

type News = [what: 'ended' | 'approved', id: string];

const STILL_WORKED_ON = `SELECT id FROM operations
  WHERE id IN (SELECT value FROM json_each(?)) AND owner IS NOT NULL AND state IN ('claimed', 'sending')`;

export async function sqliteStore(options: SqliteStoreOptions): Promise<JournalStore> {
  const { path, now = Date.now, calls = 100_000, patienceMs = 10_000 } = options;
  const open = options.driver ?? (await chooseDriver());
  prepareFile(path);
  const patiently = patience(path, patienceMs);
  const driver = await openDatabase(open, path, patiently);
  const mustBeThere = sameFile(path);
  const { read, write } = connection(driver, path, patiently);

  let time = now();
  const dialect: Dialect = {
    kind: 'sqlite',
    prefix: '',
    clock: (values) => `$${values.push(time)}`,
    lock: '',
    lockFree: '',
    packs: true,
  };
  try {
    await prepareSchema({ read, write }, dialect, path);
  } catch (error) {
    driver.close();
    throw error;
  }

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
  let news: News[] = [];
  const tell = (what: 'ended' | 'approved', id: string): string => {
    news.push([what, id]);
    return '';
  };
  const tables = sqlTables({ now: () => time, calls, dialect, writes: true, tell });
  const begin = <T>(script: (tables: Tables) => Script<T>): Script<T> => {
    time = now();
    news = [];
    return script(tables);
  };

  const store = assemble({
    kind: 'sqlite',
    refuseIfNewer: () => refuseIfNewer(dialect, path),
    read: async (script) => {
      mustBeThere();
      return read(() => begin(script));
    },
    write: async <T>(script: (tables: Tables) => Script<T>) => {
      mustBeThere();
      let told: readonly News[] = [];
      const value = await write(() => {
        const begun = begin(script);
        told = news;
        return begun;
      });
      for (const [what, id] of told) waiting.tell(what, id);
      return value;
    },
    wait: (id, signal) => {
      others.start();
      return waitFor(id, signal, store.get, waiting);
    },
    onApproved: waiting.onApproved,
    close: async () => {
      others.stop();
      waiting.tellAll();
      closeDatabase(driver);
    },
  });
  return store;
}

/** Another process may have the whole file to itself for a moment, such as one that closes it. */
async function openDatabase(
  open: OpenDriver,
  path: string,
  patiently: Patiently,
): Promise<SqliteDriver> {
  const driver = await patiently(() => open(path, BUSY_MS));
  try {
    await patiently(() => driver.exec('PRAGMA synchronous = FULL'));
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

import { JournalError } from '../../error.js';
import { createStore, type Engine } from '../create-store.js';
import type { OperationRecord, Wakeup } from '../record.js';
import type { Script } from '../script.js';
import { type Dialect, first, run } from '../sql/dialect.js';
import { isCurrent, migrate, refuseIfNewer } from '../sql/schema.js';
import { sqlTables } from '../sql/tables.js';
import type { JournalStore } from '../store.js';
import type { Tables } from '../tables.js';
import { waiters, waitFor } from '../waiters.js';
import { auditLinker, wakeupNotifier } from './background.js';
import { clientSettings, openPool, postgresSettings } from './connection.js';
import { isMissing } from './errors.js';
import { groupCommit } from './group-commit.js';
import { hasPendingAudit, linkAudit, type Linked } from './link-audit.js';
import { listener, wakeupPayload } from './listener.js';
import { createMemory, plan } from './optimistic.js';
import { transactor, type Transactor } from './transact.js';

export interface PostgresStoreOptions {
  readonly url: string;
  /** The maximum number of connections, not counting the one that listens. Default: 8. */
  readonly connections?: number;
  /** The number of calls to keep. Default: 100,000. */
  readonly calls?: number;
  /** How long to retry and wait for the database. Default: 10 s. */
  readonly timeoutMs?: number;
}

/** Keeps the journal in PostgreSQL, for processes on many machines. Uses the clock of the server. */
export async function postgresStore(options: PostgresStoreOptions): Promise<JournalStore> {
  const { connections = 8, calls = 100_000, timeoutMs = 10_000 } = options;
  const { connectionString, schema, where } = postgresSettings(options.url);
  const prefix = `"${schema}".`;
  const clock = `${prefix}now_ms()`;
  const channel = `toolkeel_${schema}`;
  const settings = clientSettings(connectionString, timeoutMs);
  const pool = openPool(settings, connections);
  const dialect: Dialect = {
    kind: 'postgres',
    prefix,
    clock: () => clock,
    lock: ' FOR UPDATE',
    skipLocked: ' FOR UPDATE SKIP LOCKED',
    packsRows: false,
  };
  let caution: string | undefined;
  try {
    // The function of the clock may not exist before the migration.
    const setup = transactor({ pool, where, timeoutMs, clock: '0' });
    caution = await prepareSchema(setup, dialect, schema, where);
  } catch (error) {
    await pool.end();
    throw error;
  }

  const transactions = transactor({ pool, where, timeoutMs, clock });
  const memory = createMemory();
  const waiting = waiters();
  const listening = listener(settings, channel, waiting);
  const notifier = wakeupNotifier(pool, channel);
  const wake = (wakeup: Wakeup, id: string): void => {
    waiting.wake(wakeup, id);
    notifier.notify(wakeupPayload(wakeup, id));
  };

  const read = <T>(script: (tables: Tables) => Script<T>): Promise<T> =>
    transactions.read((now) => script(sqlTables({ now, calls, dialect, ...READING })));
  const write: Engine['write'] = (script, lock) =>
    transactions.write(({ now, xid }) => {
      const wakeups: (readonly [Wakeup, string])[] = [];
      const written = new Map<string, OperationRecord | undefined>();
      const tables = sqlTables({
        now: () => now,
        calls,
        dialect,
        writes: true,
        wake: (...wakeup) => void wakeups.push(wakeup),
        // An operation that is written twice is forgotten: the second record may lack the first change.
        onWrite: (id, record) => void written.set(id, written.has(id) ? undefined : record),
      });
      const onCommit = (): void => {
        for (const [id, record] of written) {
          if (record) memory.put(record, xid);
          else memory.forget(id);
        }
        for (const [wakeup, id] of wakeups) wake(wakeup, id);
        linker.schedule();
      };
      return { script: script(tables), onCommit };
    }, lock);

  const link = (ifBusy: 'skip' | 'wait'): Promise<Linked> =>
    transactions.write(() => ({ script: linkIfKnown(dialect, where, ifBusy) }));
  const linker = auditLinker(link);
  const commit = groupCommit({
    connect: transactions.connect,
    where,
    timeoutMs,
    clock,
    shards: `${prefix}audit_shards`,
    memory,
    get: (ids) => read(({ operations }) => operations.getAll(ids)),
    onCommit: ({ after, wakeup }) => {
      if (wakeup !== undefined) wake(wakeup, after.id);
      linker.schedule();
    },
  });

  const store = createStore({
    kind: 'postgres',
    ...(caution !== undefined && { caution }),
    refuseIfUnfit: () => refuseIfNewer(dialect, where),
    read,
    write,
    attempt: async (script, attempt) => {
      const remembered = memory.get(attempt.operation);
      if (!attempt.isNew && remembered === undefined) return undefined;
      return commit((now) => plan(script, now, dialect, remembered), attempt);
    },
    readAudit: async (script) => {
      if (await read(() => hasPendingAudit(dialect))) await linker.now();
      return read(script);
    },
    wait: (id, signal) => {
      listening.start();
      return waitFor(id, signal, store.get, waiting);
    },
    onApproved: (onApproval) => {
      listening.start();
      return waiting.onApproved(onApproval);
    },
    close: async () => {
      await listening.stop();
      waiting.wakeAll();
      await notifier.finish();
      await linker.finish();
      await pool.end();
    },
  });
  return store;
}

const READING = { writes: false, wake: () => undefined } as const;

function* linkIfKnown(dialect: Dialect, where: string, ifBusy: 'skip' | 'wait'): Script<Linked> {
  yield* refuseIfNewer(dialect, where);
  return yield* linkAudit(dialect, ifBusy);
}

/** The oldest version with SHA-256 functions and the other features in use. */
const MIN_VERSION = 13;

const NO_FSYNC =
  'The PostgreSQL server runs with fsync = off: after a power cut or a crash of its machine, committed ' +
  'operations may be lost and repeated. Set fsync = on and restart the server.';

/** Creates or migrates the schema; safe to run in several processes at once. Returns a warning, if any. */
async function prepareSchema(
  { read, write }: Transactor,
  dialect: Dialect,
  schema: string,
  where: string,
): Promise<string | undefined> {
  const { syncs } = await read(() => checkServer(where));
  const caution = syncs ? undefined : NO_FSYNC;
  const isReady = await read(() => isCurrent(dialect, where)).catch((error: unknown) => {
    if (error instanceof JournalError && isMissing(error.cause)) return false;
    throw error;
  });
  if (isReady) return caution;
  await write(() => ({ script: createOrMigrate(dialect, schema, where) }));
  return caution;
}

function* createOrMigrate(dialect: Dialect, schema: string, where: string): Script<void> {
  yield* run('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`toolkeel:${schema}`]);
  yield* run(`CREATE SCHEMA IF NOT EXISTS "${schema}"`);
  yield* migrate(dialect, where);
}

function* checkServer(where: string): Script<{ readonly syncs: boolean }> {
  const row = yield* first(
    `SELECT current_setting('server_version_num')::int / 10000 AS version, current_setting('server_encoding') AS encoding, current_setting('fsync')::bool AS syncs`,
  );
  const { version, encoding, syncs } = row as { version: number; encoding: string; syncs: boolean };
  if (version < MIN_VERSION) {
    throw new JournalError(
      'invalid',
      `The journal in ${where} needs PostgreSQL ${MIN_VERSION} or newer; the server has version ${version}.`,
    );
  }
  if (encoding !== 'UTF8') {
    throw new JournalError(
      'invalid',
      `The journal in ${where} needs the encoding UTF8; the database uses ${encoding}. Create one with ENCODING 'UTF8'.`,
    );
  }
  return { syncs };
}

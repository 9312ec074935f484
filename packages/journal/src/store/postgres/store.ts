import { createStore } from '../create-store.js';
import type { Script } from '../script.js';
import { bind, type Dialect, first, run } from '../sql/dialect.js';
import { isCurrent, migrate, refuseIfNewer } from '../sql/schema.js';
import { sqlTables } from '../sql/tables.js';
import type { JournalStore } from '../store.js';
import type { Tables } from '../tables.js';
import { waiters, waitFor } from '../waiters.js';
import { listener, wakeupPayload } from './listener.js';
import { clientSettings, openPool, postgresSettings } from './connection.js';
import { transactor, type Transactor } from './transact.js';
import { JournalError } from '../../error.js';
import { isMissing } from './errors.js';

export interface PostgresStoreOptions {
  readonly url: string;
  /** How many connections at most, beside the one that listens. Default 8. */
  readonly connections?: number;
  /** How many calls are kept. Default 100,000. */
  readonly calls?: number;
  /** How long a call may take at most when the database does not answer. Default 10 s. */
  readonly timeoutMs?: number;
}

/** For many machines. Time is the database's own. */
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
    // The clock is part of what may have to be made first.
    const setup = transactor({ pool, where, timeoutMs, clock: '0' });
    caution = await prepareSchema(setup, dialect, schema, where);
  } catch (error) {
    await pool.end();
    throw error;
  }

  const { read, write } = transactor({ pool, where, timeoutMs, clock });
  const waiting = waiters();
  const others = listener(settings, channel, waiting);
  const wake = (wakeup: 'ended' | 'approved', id: string, values: unknown[]): string =>
    ` RETURNING pg_notify(${bind(values, channel)}, ${bind(values, wakeupPayload(wakeup, id))})`;
  const using =
    <T>(script: (tables: Tables) => Script<T>, writes: boolean) =>
    (now: number): Script<T> =>
      script(sqlTables({ now: () => now, calls, dialect, writes, wake }));

  const store = createStore({
    kind: 'postgres',
    ...(caution !== undefined && { caution }),
    refuseIfUnfit: () => refuseIfNewer(dialect, where),
    read: (script) => read(using(script, false)),
    write: (script, lock) => write(using(script, true), lock),
    wait: (id, signal) => {
      others.start();
      return waitFor(id, signal, store.get, waiting);
    },
    onApproved: (told) => {
      others.start();
      return waiting.onApproved(told);
    },
    close: async () => {
      await others.stop();
      waiting.wakeAll();
      await pool.end();
    },
  });
  return store;
}

/** The first that has SHA-256 and everything else we ask for, and is still looked after. */
const OLDEST = 13;

const NO_FSYNC =
  'The PostgreSQL server runs with fsync = off: after a power cut or a crash of its machine nobody ' +
  'knows any more what was already done. Set fsync = on and restart it.';

/**
 * Makes or brings up to date what is ours; several processes may do that at once. Gives what its
 * operator has to know.
 */
export async function prepareSchema(
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
  await write(function* () {
    yield* run('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`toolkeel:${schema}`]);
    yield* run(`CREATE SCHEMA IF NOT EXISTS "${schema}"`);
    yield* migrate(dialect, where);
  });
  return caution;
}

function* checkServer(where: string): Script<{ readonly syncs: boolean }> {
  const row = yield* first(
    `SELECT current_setting('server_version_num')::int / 10000 AS version, current_setting('server_encoding') AS encoding, current_setting('fsync')::bool AS syncs`,
  );
  const { version, encoding, syncs } = row as { version: number; encoding: string; syncs: boolean };
  if (version < OLDEST) {
    throw new JournalError(
      'invalid',
      `The journal in ${where} needs PostgreSQL ${OLDEST} or newer; this is ${version}.`,
    );
  }
  if (encoding !== 'UTF8') {
    throw new JournalError(
      'invalid',
      `The journal in ${where} needs a database in UTF8; this one is in ${encoding}. Create one with ENCODING 'UTF8'.`,
    );
  }
  return { syncs };
}

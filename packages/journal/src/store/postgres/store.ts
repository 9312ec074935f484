import { assemble } from '../assemble.js';
import type { Script } from '../script.js';
import { bind, type Dialect } from '../sql/dialect.js';
import { refuseIfNewer } from '../sql/migrate.js';
import { sqlTables } from '../sql/tables.js';
import type { JournalStore } from '../store.js';
import type { Tables } from '../tables.js';
import { waiters, waitFor } from '../waiters.js';
import { listener, newsPayload } from './listener.js';
import { clientSettings, openPool } from './pool.js';
import { prepareSchema } from './schema.js';
import { postgresSettings } from './settings.js';
import { transactor } from './transact.js';

export interface PostgresStoreOptions {
  readonly url: string;
  /** How many connections at most, beside the one that listens. Default 8. */
  readonly connections?: number;
  /** How many calls are kept. Default 100,000. */
  readonly calls?: number;
  /** How long a call may take at most when the database does not answer. Default 10 s. */
  readonly patienceMs?: number;
}

/** For many machines. Time is the database's own. */
export async function postgresStore(options: PostgresStoreOptions): Promise<JournalStore> {
  const { connections = 8, calls = 100_000, patienceMs = 10_000 } = options;
  const { connectionString, schema, where } = postgresSettings(options.url);
  const prefix = `"${schema}".`;
  const clock = `${prefix}now_ms()`;
  const channel = `toolkeel_${schema}`;
  const settings = clientSettings(connectionString, patienceMs);
  const pool = openPool(settings, connections);
  const dialect: Dialect = {
    kind: 'postgres',
    prefix,
    clock: () => clock,
    lock: ' FOR UPDATE',
    lockFree: ' FOR UPDATE SKIP LOCKED',
    packs: false,
  };
  let caution: string | undefined;
  try {
    // The clock is part of what may have to be made first.
    const beforehand = transactor({ pool, where, patienceMs, clock: '0' });
    caution = await prepareSchema(beforehand, dialect, schema, where);
  } catch (error) {
    await pool.end();
    throw error;
  }

  const { read, write } = transactor({ pool, where, patienceMs, clock });
  const waiting = waiters();
  const others = listener(settings, channel, waiting);
  const tell = (news: 'ended' | 'approved', id: string, values: unknown[]): string =>
    ` RETURNING pg_notify(${bind(values, channel)}, ${bind(values, newsPayload(news, id))})`;
  const using =
    <T>(script: (tables: Tables) => Script<T>, writes: boolean) =>
    (now: number): Script<T> =>
      script(sqlTables({ now: () => now, calls, dialect, writes, tell }));

  const store = assemble({
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
      waiting.tellAll();
      await pool.end();
    },
  });
  return store;
}

import { JournalError } from '../../error.js';
import type { Script } from '../script.js';
import { first, run, type Dialect } from '../sql/dialect.js';
import { isCurrent, migrate } from '../sql/migrate.js';
import { isMissing } from './errors.js';
import type { Transactor } from './transact.js';

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

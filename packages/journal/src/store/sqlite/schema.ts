import { JournalError } from '../../error.js';
import { first, rows, run, type Dialect } from '../sql/dialect.js';
import { isCurrent, migrate } from '../sql/migrate.js';
import type { Connection } from './connection.js';

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

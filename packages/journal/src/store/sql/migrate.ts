import { JournalError } from '../../error.js';
import type { Script } from '../script.js';
import { first, run, type Dialect } from './dialect.js';
import { migrations } from './schema.js';

/** To be run in one transaction that nobody else shares. `where` names the database in messages. */
export function* migrate(dialect: Dialect, where: string): Script<void> {
  const table = `${dialect.prefix}schema_version`;
  yield* run(`CREATE TABLE IF NOT EXISTS ${table} (version INTEGER NOT NULL)`);
  const found = yield* first(`SELECT version FROM ${table}`);
  const versions = migrations(dialect);
  const version = (found?.['version'] as number | undefined) ?? 0;
  refuseNewer(version, versions.length, where);
  for (const statement of versions.slice(version).flat()) yield* run(statement);
  if (found === undefined) yield* run(`INSERT INTO ${table} VALUES (${versions.length})`);
  else if (version < versions.length)
    yield* run(`UPDATE ${table} SET version = ${versions.length}`);
}

/** Whether there is anything to do; asked before, because asking needs no lock and no right to change. */
export function* isCurrent(dialect: Dialect, where: string): Script<boolean> {
  const row = yield* first(`SELECT version FROM ${dialect.prefix}schema_version`);
  if (row === undefined) throw withoutVersion(where);
  const version = row['version'] as number;
  const known = migrations(dialect).length;
  refuseNewer(version, known, where);
  return version === known;
}

/** For a program that has been running since; what is missing is noticed by the next that opens it. */
export function* refuseIfNewer(dialect: Dialect, where: string): Script<void> {
  const row = yield* first(`SELECT version FROM ${dialect.prefix}schema_version`);
  const version = (row?.['version'] as number | undefined) ?? 0;
  refuseNewer(version, migrations(dialect).length, where);
}

/** The table is never empty, so something has been lost. */
function withoutVersion(where: string): JournalError {
  return new JournalError(
    'corrupt',
    `The journal in ${where} is damaged: it does not say which version it has. Restore a backup, or ` +
      'name another journal.url. With an empty journal nobody knows any more what was already done.',
  );
}

function refuseNewer(version: number, known: number, where: string): void {
  if (version <= known) return;
  throw new JournalError(
    'schema',
    `The journal in ${where} has schema version ${version}, and this program knows versions up to ` +
      `${known}. It was opened by a newer program: run that one, or name another journal.url.`,
  );
}

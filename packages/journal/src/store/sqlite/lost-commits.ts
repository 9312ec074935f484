import { statSync } from 'node:fs';
import type { AuditRow } from '../../audit/row.js';
import { JournalError } from '../../error.js';
import type { Script } from '../script.js';
import { first } from '../sql/dialect.js';
import type { Connection } from './connection.js';
import { openHeadFile, type Head, type HeadFile } from './head-file.js';
import { isLogDamaged } from './wal.js';

export interface VerifiedHeads extends HeadFile {
  /** What the operator has to know. */
  readonly caution: string | undefined;
}

/**
 * Whether the loss of this row has to be noticed. If only the end of an operation is lost, its outcome
 * is unknown, and it is not sent again.
 */
export function needsRecord({ kind }: Pick<AuditRow, 'kind'>): boolean {
  return kind !== 'settled';
}

/**
 * Throws if SQLite would drop commits from its log. To be called before SQLite opens the database,
 * because recovery overwrites the evidence. Without a head file the journal is new, or its operator has
 * accepted the loss.
 */
export function refuseIfDamaged(path: string): void {
  const file = headPathOf(path);
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  const log = `${path}-wal`;
  if (!isLogDamaged(log)) return;
  throw new JournalError(
    'corrupt',
    `The journal ${path} cannot be used: its write-ahead log ${log} is damaged, and SQLite would drop ` +
      `every commit after the damage. Nothing was changed. ${adviceOn(file)}`,
  );
}

/** Throws if the database lacks the newest audit row that was recorded. */
export async function openVerifiedHeads(
  path: string,
  { read }: Pick<Connection, 'read'>,
): Promise<VerifiedHeads> {
  const heads = openHeadFile(headPathOf(path));
  try {
    await read(() => refuseIfLost(path, heads));
    const caution = heads.newest() === 'unreadable' ? unreadable(path) : undefined;
    const head = await read(auditHead);
    if (head !== undefined) heads.write(head);
    return { ...heads, caution };
  } catch (error) {
    heads.close();
    throw error;
  }
}

export function* refuseIfLost(path: string, { newest }: Pick<HeadFile, 'newest'>): Script<void> {
  // Before the database is read: what other processes commit later is in neither.
  const committed = newest();
  if (committed === undefined || committed === 'unreadable') return;
  const found = yield* first('SELECT hash FROM audit WHERE seq = $1', [committed.seq]);
  if (found?.['hash'] !== committed.hash) throw lostCommits(path, committed, yield* auditHead());
}

function* auditHead(): Script<Head | undefined> {
  const row = yield* first('SELECT seq, at, hash FROM audit ORDER BY seq DESC LIMIT 1');
  return row as Head | undefined;
}

function headPathOf(path: string): string {
  return `${path}-head`;
}

function unreadable(path: string): string {
  return (
    `The file ${headPathOf(path)} was damaged and is written anew. Whether the journal ${path} still ` +
    'has its newest commits could not be verified. Check the disk, and which other program writes there.'
  );
}

function lostCommits(path: string, lost: Head, last: Head | undefined): JournalError {
  const end = last ? `its newest row is ${named(last)}` : 'it has no rows';
  return new JournalError(
    'corrupt',
    `The journal ${path} has lost commits: audit row ${named(lost)} was committed, and ${end}. Its ` +
      `write-ahead log was damaged or removed, or an older copy was restored. ${adviceOn(headPathOf(path), last)}`,
  );
}

function adviceOn(file: string, last?: Head): string {
  const since = last === undefined ? '' : ` after ${iso(last.at)}`;
  return (
    'Mutations are refused, because they could be performed twice. To accept the loss, stop all servers ' +
    `of this journal, restore a newer backup if there is one, and remove ${file}; then compare ` +
    `"toolkeel operations list" with what the upstreams did${since}, before a server starts again.`
  );
}

function named({ seq, at, hash }: Head): string {
  return `${seq} (${iso(at)}, ${hash.slice(0, 8)})`;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

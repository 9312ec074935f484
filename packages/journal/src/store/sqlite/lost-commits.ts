import { closeSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { type AuditRow, GENESIS } from '../../audit/chain.js';
import { JournalError } from '../../error.js';
import type { Script } from '../script.js';
import { first } from '../sql/dialect.js';
import type { Connection } from './connection.js';
import { fileError, prepareFile } from './files.js';
import { isLogDamaged } from './wal.js';

export interface VerifiedHeads extends HeadFile {
  /** A warning for the operator. */
  readonly caution: string | undefined;
}

/**
 * Whether the loss of this row must be detected. If only a settlement is lost, the operation becomes
 * unknown and is not sent again.
 */
export function needsRecord({ kind }: Pick<AuditRow, 'kind'>): boolean {
  return kind !== 'settled';
}

/**
 * Throws if SQLite would drop commits from its log. Must run before SQLite opens the database, because
 * recovery overwrites the evidence. Without a head file the journal is new, or its operator has accepted
 * the loss.
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
  // Read before the database, so that rows committed in between cannot appear lost.
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
    `The file ${headPathOf(path)} was damaged and has been rewritten. Whether the journal ${path} still ` +
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

/** An audit row that a commit made durable. Its hash covers every row before it. */
export type Head = Pick<AuditRow, 'seq' | 'at' | 'hash'>;

/** Records the newest committed audit rows outside the database. */
export interface HeadFile {
  /** The newest row of all processes. `unreadable`: no record is valid. Undefined: there are no records. */
  readonly newest: () => Head | 'unreadable' | undefined;
  /** Must be called after the commit and before its callers are answered. */
  readonly write: (head: Head) => void;
  readonly close: () => void;
}

/** A record never crosses a disk sector, and all records fill one page. */
const RECORD_BYTES = 128;
const RECORDS = 32;

/**
 * SQLite does not detect that the last commits of its write-ahead log are missing, so their audit rows
 * are recorded here as well: one small write after each commit, which survives a crash of the process.
 * It is not synced, so after a power cut this file may be older than the database, but never newer.
 *
 * Successive rows have different offsets in the file, so neither a torn write nor a late write of a
 * slower process replaces the newest record.
 */
export function openHeadFile(path: string): HeadFile {
  prepareFile(path);
  const file = openSync(path, 'r+');
  const record = emptyRecord();
  return {
    newest: () => newestOf(readRecords(file)),
    write: (head) => {
      try {
        encode(head, record);
        writeSync(file, record, 0, RECORD_BYTES, (head.seq % RECORDS) * RECORD_BYTES);
      } catch (error) {
        throw fileError(error, path, { maybeDone: true });
      }
    },
    close: () => closeSync(file),
  };
}

function readRecords(file: number): readonly string[] {
  const buffer = Buffer.alloc(RECORDS * RECORD_BYTES);
  const text = buffer.toString('latin1', 0, readSync(file, buffer, 0, buffer.length, 0));
  const records = text.match(new RegExp(`[^]{1,${RECORD_BYTES}}`, 'g')) ?? [];
  // Records that were never written are holes in the file.
  return records.filter((record) => !/^\0*$/.test(record));
}

function newestOf(records: readonly string[]): Head | 'unreadable' | undefined {
  const heads = records.flatMap((record) => headOf(record) ?? []);
  const newest = heads.toSorted((one, other) => other.seq - one.seq)[0];
  return newest ?? (records.length > 0 ? 'unreadable' : undefined);
}

/** One line of text: number, time, hash and checksum. */
function emptyRecord(): Buffer {
  const record = Buffer.alloc(RECORD_BYTES, ' ');
  record[RECORD_BYTES - 1] = '\n'.charCodeAt(0);
  return record;
}

/** Runs after each commit, so the checksum is computed in the same pass (FNV-1a). */
function encode({ seq, at, hash }: Head, record: Buffer): void {
  const text = `${seq} ${at} ${hash} `;
  let sum = 0x811c_9dc5;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    record[i] = code;
    sum = Math.imul(sum ^ code, 0x0100_0193);
  }
  record.write((sum >>> 0).toString(16).padStart(8, '0'), text.length, 'latin1');
}

function headOf(text: string): Head | undefined {
  const [seq, at, hash = ''] = text.split(' ');
  if (hash.length !== GENESIS.hash.length) return undefined;
  const head = { seq: Number(seq), at: Number(at), hash };
  const record = emptyRecord();
  encode(head, record);
  return record.toString('latin1') === text ? head : undefined;
}

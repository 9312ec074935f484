import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { GENESIS } from '../../audit/chain.js';
import type { AuditRow } from '../../audit/row.js';
import { fileError, prepareFile } from './files.js';

/** An audit row that a commit made durable. Its hash covers every row before it. */
export type Head = Pick<AuditRow, 'seq' | 'at' | 'hash'>;

/** Remembers the newest committed audit rows outside of the database. */
export interface HeadFile {
  /** Of all processes. `unreadable`: there are records, and none is valid. Undefined: there are none. */
  readonly newest: () => Head | 'unreadable' | undefined;
  /** To be called after the commit and before its callers hear of it. */
  readonly write: (head: Head) => void;
  readonly close: () => void;
}

/** A record never crosses a disk sector, and all of them fill one page. */
const RECORD_BYTES = 128;
const RECORDS = 32;

/**
 * SQLite does not notice that the last commits of its write-ahead log are gone, so they are recorded
 * here as well: one small write after each commit, which survives the death of the process. It is not
 * synced, so after a power cut this file may be older than the database, but never newer.
 *
 * Successive rows have different places in the file. So neither a torn write nor a late write of a
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
  // Places that were never written are holes.
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

/** Follows each commit, so it takes the time of one pass over the characters (FNV-1a). */
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

import type { Row } from '../script.js';
import type { RecordStore, StoredRecord, StoredRecordId } from '../store.js';
import type { RecordsTable } from '../tables.js';
import { bind, bindAll, type Dialect, first, rows, run } from './dialect.js';

const COLUMNS = 'pack, kind, account, id, at, subject, state, data, expires_at, version';
const ID = 'pack = $1 AND kind = $2 AND account = $3 AND id = $4';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

interface RecordsOptions {
  readonly dialect: Dialect;
  /** Whether the transition writes, and so locks what it reads. */
  readonly writes: boolean;
  /** The number of records of one kind and account with an expiry to keep. */
  readonly kept: number;
}

export function sqlRecords({ dialect, writes, kept }: RecordsOptions): RecordsTable {
  const { prefix, kind } = dialect;
  const table = `${prefix}records`;
  const lock = writes ? dialect.lock : '';
  return {
    *get(id) {
      const row = yield* first(`SELECT ${COLUMNS} FROM ${table} WHERE ${ID}${lock}`, idOf(id));
      return row && toRecord(row);
    },
    *insert(record) {
      const values: unknown[] = [];
      const text = `INSERT INTO ${table} (${COLUMNS}) VALUES (${bindAll(values, valuesOf(record))})`;
      const row = yield* first(`${text} ON CONFLICT DO NOTHING RETURNING version`, values);
      return row !== undefined;
    },
    *replace(record, expected) {
      const { at, subject = null, state = null, data, expiresAt = null, version } = record;
      const values = [...idOf(record), at, subject, state, data, expiresAt, version, expected];
      const set = 'at = $5, subject = $6, state = $7, data = $8, expires_at = $9, version = $10';
      const text = `UPDATE ${table} SET ${set} WHERE ${ID} AND version = $11 RETURNING version`;
      return (yield* first(text, values)) !== undefined;
    },
    *list(query) {
      const values: unknown[] = [];
      const { order, after, limit = DEFAULT_LIMIT } = query;
      const [direction, beyond] = order === 'oldest' ? ['ASC', '>'] : ['DESC', '<'];
      const from = after
        ? ` AND (at, id) ${beyond} (${bind(values, after.at)}, ${bind(values, after.id)})`
        : '';
      const found = yield* rows(
        `SELECT ${COLUMNS} FROM ${table} WHERE ${where(query, values)}${from} ORDER BY at ${direction}, id ${direction} LIMIT ${bind(values, Math.min(limit, MAX_LIMIT))}`,
        values,
      );
      return found.map(toRecord);
    },
    *count(filter) {
      const values: unknown[] = [];
      const text = `SELECT count(*) AS n FROM ${table} WHERE ${where(filter, values)}`;
      return (yield* first(text, values))!['n'] as number;
    },
    *remove(id) {
      yield* run(`DELETE FROM ${table} WHERE ${ID}`, idOf(id));
    },
    *trim({ pack, kind: of, account }) {
      const mine = `pack = $1 AND kind = $2 AND account = $3 AND expires_at IS NOT NULL`;
      const row = kind === 'sqlite' ? 'rowid' : 'ctid';
      yield* run(
        `DELETE FROM ${table} WHERE ${row} IN (SELECT ${row} FROM ${table} WHERE ${mine} ORDER BY at DESC, id DESC LIMIT ${MAX_TRIMMED} OFFSET $4)`,
        [pack, of, account, kept],
      );
    },
    *prune(now) {
      yield* run(`DELETE FROM ${table} WHERE expires_at <= $1`, [now]);
    },
  };
}

/** Bounds one deletion; a kind grows by one record at a time. */
const MAX_TRIMMED = 1000;

function idOf({ pack, kind, account, id }: StoredRecordId): readonly unknown[] {
  return [pack, kind, account, id];
}

function valuesOf(record: StoredRecord): readonly unknown[] {
  const { at, subject = null, state = null, data, expiresAt = null, version } = record;
  return [...idOf(record), at, subject, state, data, expiresAt, version];
}

function where(filter: Parameters<RecordStore['countRecords']>[0], values: unknown[]): string {
  const { pack, kind, account, subject, states, since, until } = filter;
  const parts = [
    `pack = ${bind(values, pack)}`,
    `kind = ${bind(values, kind)}`,
    `account = ${bind(values, account)}`,
  ];
  if (subject !== undefined) parts.push(`subject = ${bind(values, subject)}`);
  if (states !== undefined) parts.push(`state IN (${bindAll(values, states)})`);
  if (since !== undefined) parts.push(`at >= ${bind(values, since)}`);
  if (until !== undefined) parts.push(`at < ${bind(values, until)}`);
  return parts.join(' AND ');
}

function toRecord(row: Row): StoredRecord {
  const { subject, state, expires_at: expiresAt } = row;
  return {
    pack: row['pack'] as string,
    kind: row['kind'] as string,
    account: row['account'] as string,
    id: row['id'] as string,
    at: row['at'] as number,
    ...(subject !== null && { subject: subject as string }),
    ...(state !== null && { state: state as string }),
    data: row['data'] as string,
    ...(expiresAt !== null && { expiresAt: expiresAt as number }),
    version: row['version'] as number,
  };
}

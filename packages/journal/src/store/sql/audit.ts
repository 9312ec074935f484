import {
  type AuditRow,
  canonicalParts,
  GENESIS,
  link,
  OPERATOR_KINDS,
  READ_BACK,
  readAuditRow,
  toUnlinked,
  type Unlinked,
} from '../../audit/chain.js';
import type { Script } from '../script.js';
import type { AuditTable } from '../tables.js';
import { count, first, insertIf, rows, run, type Dialect } from './dialect.js';

const NAMES = [
  'seq',
  'prev',
  'hash',
  'at',
  'kind',
  'operation_id',
  'tool',
  'account',
  'actor',
  'detail',
];
export const AUDIT_COLUMNS = NAMES.join(', ');
const VALUES = NAMES.map((_, index) => `$${index + 1}`).join(', ');

export function sqlAudit(
  dialect: Dialect,
  now: () => number,
  onAppend: (row: AuditRow) => void = () => undefined,
): AuditTable {
  const { prefix } = dialect;
  const table = `${prefix}audit`;

  const lastRow = `SELECT seq, hash FROM ${table} ORDER BY seq DESC LIMIT 1`;
  const kinds = OPERATOR_KINDS.map((kind) => `'${kind}'`).join(', ');
  const operatorAuditRows = `SELECT ${AUDIT_COLUMNS} FROM ${table} WHERE seq >= $1 AND kind IN (${kinds}) AND actor <> $2 ORDER BY seq LIMIT $3`;
  const insert = `INSERT INTO ${table} (${AUDIT_COLUMNS}) VALUES (${VALUES})`;
  const isNext = `($1 - 1, $2) = (${lastRow})`;
  const insertIfNext = insertIf(dialect, table, { columns: NAMES, required: 'prev' }, isNext);
  const append = `SELECT ${appendCall(prefix, 1)}`;

  /** The row that this process wrote last. Another process may have appended since, or it was rolled back. */
  let remembered: AuditRow | undefined;

  /** There is a single writer, so the last row is the head; usually it is still the remembered one. */
  function* appendAlone(row: Unlinked): Script<void> {
    if (remembered !== undefined) {
      const next = link(remembered, row);
      if ((yield* count(insertIfNext, linkedValues(next))) > 0) {
        remembered = next;
        return onAppend(next);
      }
    }
    const last = yield* first(lastRow);
    const head = last ? { seq: last['seq'] as number, hash: String(last['hash']) } : GENESIS;
    remembered = link(head, row);
    yield* run(insert, linkedValues(remembered));
    onAppend(remembered);
  }

  return {
    *append(entry) {
      const row = toUnlinked(entry, now());
      yield* dialect.kind === 'sqlite' ? appendAlone(row) : run(append, appendValues(row));
    },
    *head() {
      const row = yield* first(lastRow);
      return row && { seq: row['seq'] as number, hash: String(row['hash']) };
    },
    *lastSeq() {
      const row = yield* first(`SELECT MAX(seq) AS seq FROM ${table}`);
      return (row?.['seq'] as number | null | undefined) ?? GENESIS.seq;
    },
    *operatorAuditRows(from, limit) {
      const found = yield* rows(operatorAuditRows, [from, READ_BACK, limit]);
      return found.map(readAuditRow);
    },
    *rows(from, limit): Script<readonly AuditRow[]> {
      const found = yield* rows(
        `SELECT ${AUDIT_COLUMNS} FROM ${table} WHERE seq >= $1 ORDER BY seq LIMIT $2`,
        [from, limit],
      );
      return found.map(readAuditRow);
    },
  };
}

/** SQL for PostgreSQL that appends a row to a shard; its values are `appendValues`. */
export function appendCall(prefix: string, firstValue: number, later?: string): string {
  const values = Array.from({ length: 10 }, (_, index) => `$${firstValue + index}`);
  if (later !== undefined) values[AT] += ` + ${later}`;
  return `${prefix}append_audit(${values.join(', ')})`;
}

/**
 * CTEs for PostgreSQL that append a row to the shard in the value after `appendValues`, for each row of
 * `from`, which has the column `now`. No other session may use that shard.
 */
export function appendAlone(prefix: string, firstValue: number, from: string): string {
  const value = (index: number): string => `$${firstValue + index}`;
  const [front, middle, back] = [value(0), value(1), value(2)];
  const at = `${value(AT)} + ${from}.now`;
  const rest = Array.from({ length: 6 }, (_, index) => value(AT + 1 + index));
  const shard = `${value(AT + 7)}::integer`;
  return `tip AS (UPDATE ${prefix}audit_shards s SET seq = s.seq + 1, prev = s.hash, hash = encode(sha256(convert_to(${front} || (${at}) || ${middle} || '"' || s.hash || '","seq":' || (s.seq + 1) || ${back}, 'UTF8')), 'hex') FROM ${from} WHERE s.shard = ${shard} RETURNING s.shard, s.seq, s.prev, s.hash, ${at} AS at),
      appended AS (INSERT INTO ${prefix}audit_pending SELECT tip.*, ${rest.join(', ')} FROM tip)`;
}

/** The index of `at` among the values. */
const AT = 3;

export function appendValues(row: Unlinked): readonly unknown[] {
  return [...canonicalParts(row), ...toValues(row)];
}

function linkedValues(row: AuditRow): readonly unknown[] {
  return [row.seq, row.prev, row.hash, ...toValues(row)];
}

function toValues(row: Unlinked): readonly unknown[] {
  const { at, kind, operationId, tool, account, actor, detail } = row;
  return [at, kind, operationId ?? null, tool ?? null, account ?? null, actor, detail];
}

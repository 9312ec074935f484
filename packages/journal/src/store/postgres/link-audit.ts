import { hash } from 'node:crypto';
import { type AuditHead, type AuditRow, hashOf, link, readAuditRow } from '../../audit/chain.js';
import type { Row, Script } from '../script.js';
import { AUDIT_COLUMNS } from '../sql/audit.js';
import { type Dialect, first, rows, run } from '../sql/dialect.js';

const PAGE = 1000;

/** Whether rows have to be linked before the audit is read. A read-only server cannot link them. */
export function* hasPendingAudit({ prefix }: Dialect): Script<boolean> {
  const isWritable = `NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off'`;
  const ends = `SELECT 1 FROM ${prefix}audit_shards s JOIN ${prefix}audit_links l USING (shard) WHERE s.seq <> l.seq`;
  const row = yield* first(`SELECT ${isWritable} AND EXISTS (${ends}) AS "isPending"`);
  return row!['isPending'] as boolean;
}

/** `busy`: another process links. `more`: further rows may be pending. */
export type Linked = 'all' | 'more' | 'busy';

/**
 * Moves rows of the shards to the main chain, in an order in which every row follows those that were
 * committed before it was appended. One process links at a time: it locks the head, as programs of schema
 * version 5 do for each append.
 *
 * Each shard is verified. Rows that are missing from it leave a gap in the main chain, and an altered row
 * gets a hash that does not match, so that `verifyAudit` reports both.
 */
export function* linkAudit({ prefix }: Dialect, ifBusy: 'skip' | 'wait'): Script<Linked> {
  const skip = ifBusy === 'skip' ? ' SKIP LOCKED' : '';
  const locked = yield* first(`SELECT seq, hash FROM ${prefix}audit_head FOR UPDATE${skip}`);
  if (locked === undefined) return 'busy';
  // Before the rows, so that every row up to these ends is visible to the next statement.
  const ends = yield* rows(
    `SELECT s.shard, s.seq, s.hash, l.seq AS "linkedSeq", l.hash AS "linkedHash" FROM ${prefix}audit_shards s JOIN ${prefix}audit_links l USING (shard) WHERE s.seq <> l.seq`,
  );
  if (ends.length === 0) return 'all';
  const pending = yield* rows(
    `SELECT p.* FROM ${prefix}audit_shards s JOIN ${prefix}audit_links l USING (shard) CROSS JOIN LATERAL (SELECT * FROM ${prefix}audit_pending p WHERE p.shard = s.shard AND p.seq > l.seq ORDER BY p.seq LIMIT ${PAGE}) p WHERE s.seq <> l.seq ORDER BY p.place LIMIT ${PAGE}`,
  );

  const shards = new Map<number, Shard>();
  for (const { shard, linkedSeq, linkedHash } of ends) {
    const linked = { seq: linkedSeq as number, hash: linkedHash as string };
    shards.set(shard as number, { linked, moved: false });
  }
  const [linkedRows, head] = linkRows(headOf(locked), pending, shards);
  const isLast = pending.length < PAGE;
  let seq = head.seq;
  if (isLast) {
    for (const end of ends) seq += skipMissingEnd(shards.get(end['shard'] as number)!, headOf(end));
  }

  yield* run(
    `INSERT INTO ${prefix}audit (${AUDIT_COLUMNS}) SELECT ${AUDIT_COLUMNS} FROM json_populate_recordset(NULL::${prefix}audit, $1::json)`,
    [JSON.stringify(linkedRows)],
  );
  yield* run(`UPDATE ${prefix}audit_head SET seq = $1, prev = $2, hash = $3`, [
    seq,
    linkedRows.at(-1)?.['prev'] ?? '',
    head.hash,
  ]);
  const changed = [...shards].filter(([, { moved }]) => moved);
  yield* run(
    `WITH moved AS (UPDATE ${prefix}audit_links l SET seq = m.seq, hash = m.hash FROM json_populate_recordset(NULL::${prefix}audit_links, $1::json) m WHERE l.shard = m.shard RETURNING l.shard, l.seq)
    DELETE FROM ${prefix}audit_pending p USING moved WHERE p.shard = moved.shard AND p.seq <= moved.seq`,
    [JSON.stringify(changed.map(([shard, { linked }]) => ({ shard, ...linked })))],
  );
  return isLast ? 'all' : 'more';
}

interface Shard {
  /** The last row that was moved. */
  linked: AuditHead;
  moved: boolean;
}

function headOf(row: Row): AuditHead {
  return { seq: row['seq'] as number, hash: row['hash'] as string };
}

/** The rows of the main chain, as columns, and its new head. */
function linkRows(
  start: AuditHead,
  pending: readonly Row[],
  shards: ReadonlyMap<number, Shard>,
): readonly [readonly Row[], AuditHead] {
  let head = start;
  const linkedRows = pending.map((row): Row => {
    const read = readAuditRow(row);
    const shard = shards.get(row['shard'] as number)!;
    const missing = Math.max(0, read.seq - shard.linked.seq - 1);
    const next = link({ seq: head.seq + missing, hash: head.hash }, read);
    const digest = follows(read, shard.linked) ? next.hash : mismatch(next);
    head = { seq: next.seq, hash: digest };
    shard.linked = { seq: read.seq, hash: read.hash };
    shard.moved = true;
    const { operationId: operation_id, malformed: _, ...rest } = next;
    return { ...rest, hash: digest, operation_id };
  });
  return [linkedRows, head];
}

/** Whether the row is unaltered and continues its shard. After missing rows there is nothing to compare. */
function follows(row: AuditRow, last: AuditHead): boolean {
  if (hashOf(row) !== row.hash || row.seq <= last.seq) return false;
  return row.seq > last.seq + 1 || row.prev === last.hash;
}

function mismatch(row: AuditRow): string {
  return hash('sha256', `altered ${row.hash}`);
}

/** The number of rows that are missing at the end of a shard. */
function skipMissingEnd(shard: Shard, end: AuditHead): number {
  const missing = end.seq - shard.linked.seq;
  if (missing <= 0) return 0;
  shard.linked = end;
  shard.moved = true;
  return missing;
}

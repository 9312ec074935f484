import { GENESIS, link, unlinked } from '../../audit/chain.js';
import type { AuditRow } from '../../audit/row.js';
import type { AuditTable } from '../tables.js';

/** Old rows leave: a guard that lives in memory must not grow for ever. */
const KEPT = 10_000;

/* oxlint-disable require-yield -- Nothing here has to be asked of anybody else. */
export function memoryAudit(now: () => number): AuditTable {
  let rows: AuditRow[] = [];
  return {
    *append(entry) {
      if (rows.length >= 2 * KEPT) rows = rows.slice(-KEPT);
      rows.push(link(rows.at(-1) ?? GENESIS, unlinked(entry, now())));
    },
    *head() {
      const last = rows.at(-1);
      return last && { seq: last.seq, hash: last.hash };
    },
    *rows(from, limit) {
      const first = rows[0]?.seq ?? 1;
      const start = Math.max(0, from - first);
      return rows.slice(start, start + limit);
    },
  };
}

import type { CallRow } from '../store.js';
import type { CallsTable } from '../tables.js';

/* oxlint-disable require-yield -- Nothing here has to be asked of anybody else. */
export function memoryCalls(kept: number): CallsTable {
  let rows: CallRow[] = [];
  return {
    *add(calls) {
      rows.push(...calls);
      if (rows.length > 2 * kept) rows = rows.slice(-kept);
    },
    *list(since, limit) {
      return rows
        .slice(-kept)
        .filter(({ at }) => at >= since)
        .toReversed()
        .slice(0, limit);
    },
    *prune(before) {
      rows = rows.filter(({ at }) => at >= before);
    },
  };
}

import { answer } from '../script.js';
import type { CallRow } from '../store.js';
import type { CallsTable } from '../tables.js';

export function memoryCalls(kept: number): CallsTable {
  let rows: CallRow[] = [];
  return {
    add(calls) {
      rows.push(...calls);
      if (rows.length > 2 * kept) rows = rows.slice(-kept);
      return answer(undefined);
    },
    list(since, limit) {
      const wanted = rows.slice(-kept).filter(({ at }) => at >= since);
      return answer(wanted.toReversed().slice(0, limit));
    },
    prune(before) {
      rows = rows.filter(({ at }) => at >= before);
      return answer(undefined);
    },
  };
}

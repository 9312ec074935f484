import { GENESIS, link, unlinked, type AuditHead } from '../../audit/chain.js';
import { PEOPLES_KINDS, READ_BACK } from '../../audit/by-people.js';
import type { AuditRow } from '../../audit/row.js';
import { answer } from '../script.js';
import type { AuditEntry } from '../store.js';
import type { AuditTable } from '../tables.js';

const kinds: ReadonlySet<string> = new Set(PEOPLES_KINDS);

/** Old rows leave: a guard that lives in memory must not grow for ever. */
const KEPT = 1000;

/**
 * Rows are linked when somebody asks for them: nobody else can get at them before, and hashing would
 * cost more than all the rest of an operation.
 */
export function memoryAudit(now: () => number): AuditTable {
  let linked: AuditRow[] = [];
  let waiting: AuditEntry[] = [];
  let times: number[] = [];
  /** Of rows that left: how many there were, and what the last of them was if anybody saw it. */
  let gone: AuditHead = GENESIS;

  const linkAll = (): readonly AuditRow[] => {
    for (const [index, entry] of waiting.entries()) {
      linked.push(link(linked.at(-1) ?? gone, unlinked(entry, times[index]!)));
    }
    waiting = [];
    times = [];
    if (linked.length > KEPT) {
      gone = linked.at(-KEPT - 1)!;
      linked = linked.slice(-KEPT);
    }
    return linked;
  };
  /** What nobody has ever seen needs no link to what comes after it. */
  const makeRoom = (): void => {
    if (linked.length > 0 || gone.hash !== GENESIS.hash) return void linkAll();
    gone = { seq: gone.seq + waiting.length - KEPT, hash: GENESIS.hash };
    waiting.splice(0, waiting.length - KEPT);
    times.splice(0, times.length - KEPT);
  };

  return {
    append(entry) {
      waiting.push(entry);
      times.push(now());
      if (waiting.length > 2 * KEPT) makeRoom();
      return answer(undefined);
    },
    head() {
      const last = linkAll().at(-1);
      return answer(last && { seq: last.seq, hash: last.hash });
    },
    lastSeq: () => answer((linked.at(-1) ?? gone).seq + waiting.length),
    operatorAuditRows(from, limit) {
      const first = (linked.at(-1) ?? gone).seq + 1;
      const fresh = waiting.map((entry, index) => ({
        seq: first + index,
        ...unlinked(entry, times[index]!),
      }));
      const said = [...linked, ...fresh].filter(
        ({ seq, kind, actor }) => seq >= from && kinds.has(kind) && actor !== READ_BACK,
      );
      return answer(said.slice(0, limit));
    },
    rows(from, limit) {
      const rows = linkAll();
      const start = Math.max(0, from - (rows[0]?.seq ?? 1));
      return answer(rows.slice(start, start + limit));
    },
  };
}

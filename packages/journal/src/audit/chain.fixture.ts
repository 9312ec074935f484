import type { AuditEntry } from '../store/store.js';
import { type AuditHead, type AuditRow, GENESIS, link, toUnlinked } from './chain.js';

/** A chain over these entries, a second apart. */
export function chainOf(entries: readonly AuditEntry[]): AuditRow[] {
  let head: AuditHead = GENESIS;
  return entries.map((entry, index) => {
    const row = link(head, toUnlinked(entry, 1000 * (index + 1)));
    head = row;
    return row;
  });
}

export const entries = (count: number): AuditEntry[] =>
  Array.from({ length: count }, (_, index) => ({
    kind: 'send',
    actor: 'alice',
    operationId: `op_${index}`,
    tool: 'post',
    detail: { n: index },
  }));

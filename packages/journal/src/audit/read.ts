import type { JournalStore } from '../store/store.js';
import type { AuditRow } from './row.js';

const PAGE = 500;

/** All rows in the order of the chain, a page at a time. */
export async function* readAudit({
  auditRows,
}: Pick<JournalStore, 'auditRows'>): AsyncGenerator<AuditRow> {
  let from = Number.MIN_SAFE_INTEGER;
  for (;;) {
    const page = await auditRows(from, PAGE);
    yield* page;
    if (page.length < PAGE) return;
    from = page.at(-1)!.seq + 1;
  }
}

import { isDamage } from '../error.js';
import type { JournalEvent } from '../events.js';
import type { Kit } from '../kit.js';
import type { Operation } from '../operation.js';
import type { OperatorAuditRow } from '../store/store.js';

const PAGE = 100;
/** What is left is told in the next round. */
const PAGES = 10;

/**
 * Tells what people decided in other processes, such as a command line: its own log nobody reads. What
 * was decided before this began is not told.
 */
export function follower({
  store,
  observe,
  ownWords,
  report,
}: Pick<Kit, 'store' | 'observe' | 'ownWords' | 'report'>): () => Promise<void> {
  let next: number | undefined;

  /** As far as it can be read: one that is damaged must not keep the others from being told. */
  const find = async (id: string): Promise<Operation | undefined> => {
    try {
      return await store.get(id);
    } catch (cause) {
      if (!isDamage(cause)) throw cause;
      report(cause);
    }
    try {
      return (await store.list({ idPrefix: id, damaged: 'shown', limit: 1 }))[0];
    } catch (cause) {
      if (!isDamage(cause)) throw cause;
      return undefined;
    }
  };

  const tell = async (said: OperatorAuditRow): Promise<void> => {
    const { kind, operationId } = said;
    if (operationId === undefined || ownWords.take(kind, operationId)) return;
    const operation = await find(operationId);
    if (!operation) return;
    const { tool, account, correlationId } = operation;
    const type: JournalEvent['type'] =
      kind === 'approval_decided' ? 'approval_decided' : 'operation_reconciled';
    const result = resultIn(said.detail);
    observe({
      type,
      operationId,
      tool,
      account,
      correlationId,
      ...(result !== undefined && { result }),
      by: said.actor,
      elsewhere: true,
    });
  };

  return async () => {
    for (let page = 0; page < PAGES; page++) {
      const said = await store.operatorAuditRows(next, PAGE);
      for (const each of said.rows) {
        await tell(each);
        next = each.seq + 1;
      }
      next = said.next;
      if (said.rows.length < PAGE) return;
    }
  };
}

/** Rows can be tampered with: what cannot be read is told without its result. */
function resultIn(detail: string): string | undefined {
  try {
    const { decision, outcome } = JSON.parse(detail) as Readonly<Record<string, unknown>>;
    const result = decision ?? outcome;
    return typeof result === 'string' ? result : undefined;
  } catch {
    return undefined;
  }
}

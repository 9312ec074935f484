import type { JournalContext } from '../context.js';
import { isDamage } from '../error.js';
import type { Operation } from '../operation.js';
import type { OperatorAuditRow } from '../store/store.js';

const PAGE = 100;
/** Further rows are read in the next pass. */
const MAX_PAGES = 10;

/**
 * Emits events for operator decisions that were made in other processes, such as the CLI, whose own log
 * is not collected. Decisions from before the start are not emitted.
 */
export function watchOperatorDecisions({
  store,
  emit,
  ownDecisions,
  report,
}: Pick<JournalContext, 'store' | 'emit' | 'ownDecisions' | 'report'>): () => Promise<void> {
  let next: number | undefined;

  /** A damaged operation must not keep later decisions from being emitted. */
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

  const emitDecision = async ({ kind, operationId, detail, actor }: OperatorAuditRow) => {
    if (operationId === undefined || ownDecisions.take(kind, operationId)) return;
    const operation = await find(operationId);
    if (!operation) return;
    const type = kind === 'approval_decided' ? 'approval_decided' : 'operation_reconciled';
    const result = resultIn(detail);
    const more = { ...(result !== undefined && { result }), by: actor, elsewhere: true } as const;
    emit(type, operation, more);
  };

  return async () => {
    for (let page = 0; page < MAX_PAGES; page++) {
      const found = await store.operatorAuditRows(next, PAGE);
      for (const row of found.rows) {
        await emitDecision(row);
        next = row.seq + 1;
      }
      next = found.next;
      if (found.rows.length < PAGE) return;
    }
  };
}

/** Undefined for a row that was tampered with: the event is emitted without a result then. */
function resultIn(detail: string): string | undefined {
  try {
    const { decision, outcome } = JSON.parse(detail) as Readonly<Record<string, unknown>>;
    const result = decision ?? outcome;
    return typeof result === 'string' ? result : undefined;
  } catch {
    return undefined;
  }
}

/** Operator decisions made in this process, which `watchOperatorDecisions` must not emit again. */
export interface OwnDecisions {
  /** Runs a write of such an audit row. `isWritten`: whether the row was written. */
  readonly record: <T>(
    kind: string,
    operationId: string,
    write: () => Promise<T>,
    isWritten: (result: T) => boolean,
  ) => Promise<T>;
  /** Whether this process wrote the row. Each row is asked about once. */
  readonly take: (kind: string, operationId: string) => boolean;
}

export function createOwnDecisions(): OwnDecisions {
  const counts = new Map<string, number>();
  const add = (key: string, by: number): void => {
    const count = (counts.get(key) ?? 0) + by;
    if (count > 0) counts.set(key, count);
    else counts.delete(key);
  };
  return {
    record: async (kind, operationId, write, isWritten) => {
      const key = `${kind} ${operationId}`;
      // Before the write: the row can be read before the store answers.
      add(key, 1);
      let written = false;
      try {
        const result = await write();
        written = isWritten(result);
        return result;
      } finally {
        if (!written) add(key, -1);
      }
    },
    take: (kind, operationId) => {
      const key = `${kind} ${operationId}`;
      const isOwn = counts.has(key);
      if (isOwn) add(key, -1);
      return isOwn;
    },
  };
}

import type { OperationRecord } from '../record.js';
import type { AuditEntry } from '../store.js';

export function record(
  kind: string,
  { id, tool, account, fence }: OperationRecord,
  actor: string,
  detail: Record<string, unknown> = {},
): AuditEntry {
  // Whoever is in a hurry has named it already: one more member than an object was made for costs another object.
  detail['fence'] = fence;
  return { kind, operationId: id, tool, account, actor, detail };
}

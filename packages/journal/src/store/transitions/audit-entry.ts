import type { OperationRecord } from '../record.js';
import type { AuditEntry } from '../store.js';

export function record(
  kind: string,
  { id, tool, account, fence }: OperationRecord,
  actor: string,
  detail: Readonly<Record<string, unknown>> = {},
): AuditEntry {
  return { kind, operationId: id, tool, account, actor, detail: { ...detail, fence } };
}

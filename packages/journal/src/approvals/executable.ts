import type { OperationRecord } from '../store/record.js';
import { bindAll } from '../store/sql/dialect.js';

/*
 * Which operations are ready to be executed after their approval, once for the memory store and once for
 * SQL. Both have to select the same ones (store/contract/approved.fixture.ts):
 *
 * - the operation waits for approval, and an operator or the policy approved it;
 * - the approval has not expired;
 * - `notBefore` has passed: the scheduled time, or the pause after an attempt that was not executed;
 * - the asking process has the tool.
 *
 * The decision made first is executed first. A damaged row is skipped.
 */

export function isExecutable(
  { state, approval, notBefore = 0, tool }: OperationRecord,
  tools: readonly string[],
  now: number,
): boolean {
  const isWaiting = state === 'awaiting_approval' && approval?.decision === 'approved';
  return isWaiting && approval.expiresAt > now && notBefore <= now && tools.includes(tool);
}

/** `settled_at` lets SQLite use the partial index of unsettled operations. */
export function whereExecutable(
  values: unknown[],
  tools: readonly string[],
  clock: (values: unknown[]) => string,
): string {
  return [
    `settled_at IS NULL AND state = 'awaiting_approval' AND approval_decision = 'approved'`,
    `tool IN (${bindAll(values, tools)})`,
    `approval_expires_at > ${clock(values)}`,
    `(not_before IS NULL OR not_before <= ${clock(values)})`,
  ].join(' AND ');
}

export const EXECUTABLE_ORDER = 'approval_decided_at, seq';

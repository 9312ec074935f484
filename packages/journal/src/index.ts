export { createJournal, type Denial, type Journal } from './journal.js';
export type { Decide, Decision, JournalOptions, ToolSource } from './options.js';
export type { JournalEvent } from './events.js';
export type { JournalMiddleware } from './flow/around.js';
export type { JournalScope } from './flow/scope.js';
export { keylessTools } from './identity/keyless.js';
export { KEY_IN_META } from './identity/meta-key.js';
export type { Approvals, Decided } from './approvals/desk.js';
export type { Operations, Resolution } from './operations/operations.js';
export type { ApprovalView, OperationView } from './operations/view.js';
export type { Liveness, ProcessRef } from './owner/process.js';
export { commandNotifier, type CommandOptions } from './notifications/notifiers.js';
export type { NotificationMessage, Notifier } from './notifications/sender.js';
export { webhookNotifier, type WebhookOptions } from './notifications/notifiers.js';
export { JournalError, type JournalErrorReason } from './error.js';
export { openStore, type OpenStoreOptions } from './open-store.js';
export { openEncryption } from './encryption/encryption.js';
export {
  createEncryption,
  ephemeralEncryption,
  isEncrypted,
  type Encryption,
} from './encryption/encryption.js';
export { exportAudit, type AuditExport } from './audit/reports.js';
export { readAudit } from './audit/reports.js';
export { verifyAudit, type AuditProblem, type AuditReport } from './audit/reports.js';
export type { AuditHead } from './audit/chain.js';
export { scopedDedupKey } from './slot.js';
export { memoryStore, type MemoryStoreOptions } from './store/memory/store.js';
export type { AuditRow } from './audit/chain.js';
export type { Approval, DedupKey, Operation, OperationState, Owner, Step } from './operation.js';
export type {
  ApprovalDecision,
  ApprovalEdit,
  ApprovalRequest,
  AuditEntry,
  CallRow,
  ClaimRequest,
  ClaimResult,
  DecisionResult,
  FencingToken,
  JournalStore,
  Limit,
  Notification,
  OperationFilter,
  SendRequest,
  SendResult,
  Settlement,
  Reconciliation,
} from './store/store.js';

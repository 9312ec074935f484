export { createJournal, type Denial, type Journal } from './journal.js';
export type { Decide, Decision, DescribeProcess, JournalOptions, ToolSource } from './options.js';
export type { BlockedReason, BlockedView } from './blocked.js';
export type { JournalEvent } from './events.js';
export type { CallContext, JournalMiddleware } from './flow/call.js';
export { KEY_IN_META } from './dedup-key/dedup-key.js';
export { keylessTools } from './dedup-key/templates.js';
export type { ApprovalPreview, Approvals, Decided } from './approvals/approvals.js';
export type {
  CheckedOperation,
  Operations,
  PastOperation,
  Resolution,
} from './operations/operations.js';
export type { ApprovalView, OperationView } from './operations/view.js';
export { processRef, systemLiveness, type Liveness, type ProcessRef } from './owner/process.js';
export {
  commandNotifier,
  webhookNotifier,
  type CommandOptions,
  type WebhookOptions,
} from './notifications/notifiers.js';
export type { NotificationMessage, Notifier } from './notifications/sender.js';
export { packRecords, type PackRecordsOptions } from './records.js';
export { JournalError, type JournalErrorReason } from './error.js';
export { openStore, type OpenStoreOptions } from './open-store.js';
export {
  createEncryption,
  ephemeralEncryption,
  isEncrypted,
  openEncryption,
  type Encryption,
} from './encryption/encryption.js';
export type { AuditHead, AuditRow } from './audit/chain.js';
export {
  csvCell,
  exportAudit,
  readAudit,
  verifyAudit,
  type AuditExport,
  type AuditProblem,
  type AuditReport,
} from './audit/reports.js';
export { memoryStore, type MemoryStoreOptions } from './store/memory/store.js';
export {
  scopedDedupKey,
  type Approval,
  type DedupKey,
  type Operation,
  type OperationState,
  type Owner,
  type Step,
} from './operation.js';
export type {
  CallFilter,
  CallRow,
  ProcessReport,
  StoredCall,
  StoredProcess,
} from './store/activity.js';
export type {
  ApprovalDecision,
  ApprovalEdit,
  ApprovalRequest,
  AuditEntry,
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

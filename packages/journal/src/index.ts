export { createJournal, type Denial, type Journal } from './journal.js';
export type { Decide, Decision, JournalOptions, ToolSource } from './options.js';
export type { JournalEvent } from './events.js';
export type { CallContext, JournalMiddleware } from './flow/call.js';
export { KEY_IN_META } from './dedup-key/dedup-key.js';
export { keylessTools } from './dedup-key/templates.js';
export type { Approvals, Decided } from './approvals/approvals.js';
export type { Operations, Resolution } from './operations/operations.js';
export type { ApprovalView, OperationView } from './operations/view.js';
export type { Liveness, ProcessRef } from './owner/process.js';
export { commandNotifier, type CommandOptions } from './notices/command.js';
export type { NotificationMessage, Notifier } from './notices/message.js';
export { webhookNotifier, type WebhookOptions } from './notices/webhook.js';
export { JournalError, type JournalErrorReason } from './error.js';
export { openStore, type OpenStoreOptions } from './open-store.js';
export { openEncryption } from './sealing/open-sealing.js';
export {
  createEncryption,
  ephemeralEncryption,
  isEncrypted,
  type Encryption,
} from './sealing/sealing.js';
export { exportAudit, type AuditExport } from './audit/export.js';
export { readAudit } from './audit/read.js';
export { verifyAudit, type AuditProblem, type AuditReport } from './audit/verify.js';
export type { AuditHead } from './audit/chain.js';
export { memoryStore, type MemoryStoreOptions } from './store/memory/store.js';
export type { AuditRow } from './audit/row.js';
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
  Verdict,
} from './store/store.js';

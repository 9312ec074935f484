export { JournalError, type JournalErrorReason } from './error.js';
export { slotOf } from './slot.js';
export { memoryStore, type MemoryStoreOptions } from './store/memory/store.js';
export type { AuditRow } from './audit/row.js';
export type { Approval, Identity, Operation, OperationState, Owner, Step } from './operation.js';
export type {
  ApprovalDecision,
  ApprovalEdit,
  ApprovalRequest,
  AuditEntry,
  CallRow,
  ClaimRequest,
  ClaimResult,
  DecisionResult,
  Grip,
  JournalStore,
  Limit,
  Notice,
  OperationFilter,
  SendRequest,
  SendResult,
  Settlement,
  Verdict,
} from './store/store.js';

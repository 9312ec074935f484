export type { AuditRow } from './audit/row.js';
export type { Approval, Identity, Operation, OperationState, Owner, Step } from './operation.js';
export type {
  ApprovalDecision,
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
} from './store/store.js';

import type { ActionName } from './actions.js';
import type { AuditRow } from './audit.js';
import type { CallSummary, Outcome } from './calls.js';
import type { Effect, ProcessState } from './live.js';

export type OperationState =
  | 'claimed'
  | 'sending'
  | 'succeeded'
  | 'rejected'
  | 'unknown'
  | 'reconciled'
  | 'awaiting_approval'
  | 'denied'
  | 'expired'
  | 'released';

/**
 * GET /api/operations?…: newest first. Parameters: `state` (comma-separated), `tool`, `account`, `since`,
 * `until`, `limit`, `before` (the id of the last one), `id` (a prefix).
 */
export interface OperationsResponse {
  readonly operations: readonly Operation[];
  readonly next?: string;
}

/** The part of an operation for lists and events. */
export interface OperationSummary {
  readonly id: string;
  readonly tool: string;
  readonly account: string;
  readonly effect: Exclude<Effect, 'read'>;
  readonly state: OperationState;
  readonly outcome?: Outcome;
  readonly code?: string;
  readonly key: string;
  readonly correlation_id: string;
  readonly created_at: string;
  readonly sending_at?: string;
  readonly settled_at?: string;
  /** The argument that decides: the text of a post, the id of what is deleted. Cut to 500 characters. */
  readonly decisive?: { readonly name: string; readonly value: string; readonly cut: boolean };
}

export interface Operation extends OperationSummary {
  readonly held_until?: string;
  readonly delivered_at?: string;
  /** Sensitive values are masked. Absent if this process cannot decrypt them. */
  readonly arguments?: Arguments;
  readonly steps: readonly { readonly name: string; readonly state: 'sending' | 'done' }[];
  readonly approval?: ApprovalView;
  /** Why it is not executed although approved, or not reconciled. */
  readonly blocked?: {
    readonly reason: string;
    readonly explanation: string;
    readonly at?: string;
  };
  /** Which part of the stored row cannot be read. */
  readonly damaged?: string;
  /** The answer that repeats receive. */
  readonly answer?: { readonly data?: unknown; readonly error?: unknown };
}

export type Arguments = Readonly<Record<string, unknown>>;

/** GET /api/operations/:id */
export interface OperationResponse {
  readonly operation: Operation;
  readonly evidence: Evidence;
  /** The actions that are possible now; see `Action`. */
  readonly actions: readonly ActionName[];
}

/** What is known about whether the upstream acted. */
export interface Evidence {
  readonly sent: {
    /** `no`: no byte left. `maybe`: it was marked as sending. `answered`: the upstream responded. */
    readonly state: 'no' | 'maybe' | 'answered';
    readonly at?: string;
    /** A sentence. */
    readonly text: string;
  };
  /** What identifies the act here, and the idempotency key that the upstream got, if it takes one. */
  readonly key: { readonly by: 'key' | 'template' | 'content'; readonly value: string };
  /** The last response or fault that is stored. */
  readonly last_response?: {
    readonly code: string;
    readonly text: string;
    readonly details?: unknown;
  };
  /** What the read-back saw last. */
  readonly read_back?: { readonly reason: string; readonly text: string; readonly at?: string };
  /** The process that sent it. */
  readonly process?: Pick<ProcessState, 'id' | 'name' | 'pid' | 'machine' | 'state'>;
  readonly calls: readonly CallSummary[];
  /** Oldest first. */
  readonly audit: readonly AuditRow[];
}

/**
 * GET /api/operations/export?format=jsonl|csv&since=…&until=…&state=…&tool=…: a file
 * (`content-disposition: attachment`), oldest first, without arguments that are sensitive.
 */
export type OperationsExport = string;

export interface ApprovalView {
  readonly rule: string;
  readonly explanation: string;
  /** Hash of the arguments as they are now. */
  readonly hash: string;
  readonly requested_at: string;
  readonly expires_at: string;
  readonly cost?: { readonly amount: number; readonly unit: string };
  readonly duplicate?: true;
  readonly edited: boolean;
  readonly edited_by?: string;
  readonly edited_at?: string;
  /** The arguments before the edit. */
  readonly requested_arguments?: Arguments;
  readonly scheduled_for?: string;
  readonly decision?: 'approved' | 'rejected';
  readonly decided_at?: string;
  readonly decided_by?: string;
  readonly reason?: string;
}

/** GET /api/approvals?tool=…&account=…: undecided and approved ones that wait, soonest expiry first. */
export interface ApprovalsResponse {
  readonly approvals: readonly ApprovalSummary[];
  /** Expired without a decision in the last 24 hours, newest first. */
  readonly expired: readonly ApprovalSummary[];
}

export interface ApprovalSummary extends OperationSummary {
  readonly rule: string;
  readonly explanation: string;
  readonly hash: string;
  readonly requested_at: string;
  readonly expires_at: string;
  readonly scheduled_for?: string;
  readonly cost?: { readonly amount: number; readonly unit: string };
  readonly edited: boolean;
  readonly decision?: 'approved' | 'rejected';
  readonly decided_by?: string;
  /** All arguments, for the differences within a batch. Sensitive values are masked. */
  readonly arguments?: Arguments;
}

/** GET /api/approvals/:id: also of decided and expired ones. */
export interface ApprovalResponse {
  readonly approval: Operation;
  /** The exact arguments, from the encrypted copy; sensitive values are masked, and named here. */
  readonly arguments?: Arguments;
  readonly masked: readonly string[];
  /** Why the arguments cannot be shown. */
  readonly unreadable?: string;
  /** JSON Schema of the arguments, for the edit form. Absent: this process does not have the tool. */
  readonly input_schema?: Readonly<Record<string, unknown>>;
  /** A text that people will read: how it will look. */
  readonly text?: TextPreview;
  readonly actions: readonly ActionName[];
  /** An expired or decided item: what to do next, as a sentence. */
  readonly next_step?: string;
}

export interface TextPreview {
  readonly argument: string;
  readonly value: string;
  /** `post`: render it as a post of a social network. */
  readonly kind: 'post' | 'text';
  /** As the upstream counts it, such as X's weighted length; else in characters as people count them. */
  readonly length: number;
  readonly max_length?: number;
}

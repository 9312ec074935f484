import type { FailureOutcome, PackRecord, RecordFilter, RecordQuery } from '@toolkeel/contract';
import type { AuditRow } from '../audit/chain.js';
import type { Approval, DedupKey, Operation, OperationState, Owner } from '../operation.js';
import type { CallFilter, CallRow, ProcessReport, StoredCall, StoredProcess } from './activity.js';

/**
 * Proof of ownership of a claimed operation. A write whose owner or fence differs from the stored ones
 * changes nothing.
 */
export interface FencingToken {
  readonly id: string;
  readonly owner: string;
  readonly fence: number;
}

/** What identifies a mutation for deduplication. */
export interface Act {
  readonly account: string;
  readonly tool: string;
  readonly dedupKey: DedupKey;
  /**
   * The caller's explicit key, if `dedupKey` is a template. The operation is found under both; the
   * explicit key is looked up first.
   */
  readonly key?: string;
}

export interface ClaimRequest extends Act {
  /** The id of the operation if the claim creates one. */
  readonly id: string;
  readonly owner: string;
  readonly effect: Operation['effect'];
  readonly argsHash: string;
  readonly args: string;
  readonly correlationId: string;
  /**
   * Hash of the normalised arguments. An operation with the same content that is in flight, unknown or
   * executed and still held answers the call, whatever the dedup keys of the two. Only for effect
   * `once`. Default: only dedup keys are compared.
   */
  readonly content?: string;
  /**
   * Binds the caller's explicit key to an operation that answers the call by content, and holds it this
   * long after settlement. Default: the key is not bound.
   */
  readonly keyHoldMs?: number;
  /**
   * The caller intends a duplicate: a new operation is created without a dedup key if another one holds
   * it, and takes the key over when it succeeds. Ignored for an operation found under the explicit key.
   */
  readonly allowDuplicate: boolean;
  /**
   * The call is separate from these operations, which belong to equal calls that are not repeated by it.
   * Every other operation with its content that is not settled, or still held, answers it: one that is
   * settled first, then the oldest. Without one the claim creates an operation beside these. Only for
   * calls that are identified by their content. Default: one operation holds the content.
   */
  readonly besides?: readonly string[];
}

/** A lookup without a claim. */
export type HeldQuery = Act &
  Pick<ClaimRequest, 'allowDuplicate' | 'content'> &
  Partial<Pick<ClaimRequest, 'effect'>>;

export type ClaimResult =
  /** The caller owns the operation. `resumed`: an earlier owner has completed or opened steps of it. */
  | { readonly kind: 'mine'; readonly operation: Operation; readonly resumed: boolean }
  /** Another owner has the operation, or it is settled and to be replayed; `state` says which. */
  | { readonly kind: 'held'; readonly operation: Operation }
  /**
   * An operation with the same content and another explicit key is unknown or undelivered. Two acts may
   * be intended, and the first may already have been executed.
   */
  | { readonly kind: 'conflict'; readonly operation: Operation };

/** A policy limit: at most `max` sends within `windowMs`, over all processes, counted before the send. */
export interface Limit {
  /** The counter that sends share: the name of a rule, a tool, or one for all. */
  readonly name: string;
  readonly max: number;
  readonly windowMs: number;
}

export interface SendRequest {
  /** The step to send, for an operation with several steps. */
  readonly step?: string;
  readonly limits: readonly Limit[];
  /** The policy rule that allowed the send, for the audit. */
  readonly rule?: string;
  /** The estimated cost of the whole operation, audited with its first send. */
  readonly cost?: Approval['cost'];
  /** Operations that this one compensates; their dedup keys are released with the send. */
  readonly releases?: readonly string[];
  /** Refuse with `conflict` while an operation with the same content and another explicit key is unknown. */
  readonly exclusive?: boolean;
}

export type SendResult =
  | { readonly kind: 'sent'; readonly at: number }
  /** The caller no longer owns the operation and must not send. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'conflict'; readonly operation: Operation }
  | { readonly kind: 'limited'; readonly limit: Limit; readonly retryAfterMs: number };

/** How long an executed operation answers calls with the same content. */
interface ContentHold {
  /** From settlement, until the result is delivered. */
  readonly holdMs: number;
  /** From the last delivery. */
  readonly windowMs: number;
}

/** An answer with the final outcome of an operation that reached its caller. */
export interface Delivery {
  readonly id: string;
  /** Milliseconds since the delivery. */
  readonly agoMs: number;
}

export interface Settlement {
  /**
   * - `claimed`: stopped between steps and released by its owner; a repeated call resumes at the next step.
   * - `awaiting_approval`: approved but not executable now; `takeApproved` returns it after `holdMs`.
   *
   * A definite result for an operation that has become `unknown` (its lease expired) is stored as
   * `reconciled`.
   */
  readonly state:
    | 'succeeded'
    | 'rejected'
    | 'unknown'
    | 'released'
    | 'claimed'
    | 'awaiting_approval';
  readonly outcome?: FailureOutcome;
  readonly answer: string;
  readonly code: string;
  /** How long the dedup key is held from now; 0 releases it. Ignored for unsettled states. */
  readonly holdMs: number;
  /** The same for the explicit key of an operation whose dedup key is a template. Default: `holdMs`. */
  readonly keyHoldMs?: number;
  /** For an executed `once` operation: how long its content is held, instead of `holdMs`. */
  readonly content?: ContentHold;
  /**
   * With `unknown`: the call timed out while its handler still runs. The owner is kept, because the
   * handler can still send and can still report the result.
   */
  readonly stillRunning?: true;
  /** No byte was sent: the last send is removed from the policy limits. */
  readonly refund?: boolean;
  /** Operations that this one compensated; their dedup keys are released. */
  readonly releases?: readonly string[];
  /** For the audit: the policy rule that ended the operation. */
  readonly reason?: string;
  /** Delete the operation, without an audit row, if nothing of it was sent, approved or completed. */
  readonly discard?: boolean;
}

/** The account and hashes of an operation from an earlier version, recomputed by the current recipe. */
export interface Rehash {
  readonly account: string;
  readonly argsHash: string;
  /** Hash of the arguments after an edit. */
  readonly editedHash?: string;
  /** The current value of its dedup-key template, if it has one. */
  readonly template?: string;
}

/** The established outcome of an unknown or half-done operation. */
export interface Reconciliation {
  readonly outcome: 'executed' | 'not_executed';
  readonly answer: string;
  readonly code: string;
  readonly holdMs: number;
  readonly keyHoldMs?: number;
  readonly content?: ContentHold;
  readonly by: string;
  readonly reason?: string;
  /** The upstream data that proves the outcome, for the audit. */
  readonly evidence?: unknown;
  /** Operations that this one compensated; their dedup keys are released. */
  readonly releases?: readonly string[];
}

export interface ApprovalRequest extends Pick<
  Approval,
  | 'rule'
  | 'explanation'
  | 'hash'
  | 'expiresAt'
  | 'cost'
  | 'duplicate'
  | 'sensitive'
  | 'scheduledFor'
  | 'onBehalfOf'
  | 'byPolicy'
> {
  /** The maximum number of undecided approvals per account. Default: unlimited. */
  readonly maxPending?: number;
  readonly encryptedArgs: string;
  readonly answer: string;
}

export interface ApprovalEdit {
  /** The hash that the editor saw. */
  readonly expected: string;
  readonly hash: string;
  /** The dedup key of the edited arguments. */
  readonly dedupKey: DedupKey;
  readonly encryptedArgs: string;
  /** The estimated cost after the edit, if known. */
  readonly cost?: Approval['cost'];
  readonly by: string;
}

export interface ApprovalDecision {
  readonly decision: 'approved' | 'rejected';
  /** Must equal the stored hash: a decision applies only to the arguments that the operator saw. */
  readonly hash: string;
  readonly by: string;
  readonly reason?: string;
  /** How long a rejected operation holds its dedup key. */
  readonly holdMs: number;
}

export type DecisionResult =
  | { readonly kind: 'decided'; readonly operation: Operation }
  | { readonly kind: 'already'; readonly operation: Operation }
  | { readonly kind: 'expired'; readonly operation: Operation }
  | { readonly kind: 'changed'; readonly operation: Operation }
  | { readonly kind: 'not_waiting'; readonly operation: Operation }
  /** `operation` is another one that holds the dedup key or content of the edited arguments. */
  | { readonly kind: 'taken'; readonly operation: Operation }
  | { readonly kind: 'absent' };

export interface OperationFilter {
  /**
   * List unreadable operations with `damaged` set. By default one unreadable operation fails the whole
   * query, because callers that draw conclusions from a listing need all of it.
   */
  readonly damaged?: 'shown';
  readonly states?: readonly OperationState[];
  readonly tool?: string;
  readonly tools?: readonly string[];
  readonly account?: string;
  readonly owner?: string;
  readonly dedupKey?: DedupKey;
  readonly argsHash?: string;
  /** Whether a step was sent whose outcome is not recorded. */
  readonly stepOpen?: boolean;
  /** A prefix of the id, as operators type it. */
  readonly idPrefix?: string;
  /** Created at or after `since` and before `until`. */
  readonly since?: number;
  readonly until?: number;
  /** Settled at or after. */
  readonly settledSince?: number;
  readonly holdsDedupKey?: boolean;
  /** Holds no dedup key, because another operation took it, and is found by its content. */
  readonly withoutDedupKey?: true;
  /** Page size, newest first. Default: 100. `before` is the id of the last operation of the previous page. */
  readonly limit?: number;
  readonly before?: string;
  /** List the oldest first; `before` is still the last id of the previous page. */
  readonly order?: 'oldest';
}

export interface AuditEntry {
  readonly kind: string;
  readonly operationId?: string;
  readonly tool?: string;
  readonly account?: string;
  readonly actor: string;
  /** JSON-compatible values; must not contain secrets. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** An audit row that records a decision of an operator. */
export type OperatorAuditRow = Pick<AuditRow, 'seq' | 'kind' | 'operationId' | 'actor' | 'detail'>;

/** An event for the operator. Written to the outbox with the transition that causes it, and sent later. */
export interface Notification {
  readonly id: string;
  readonly kind: 'approval_requested' | 'operation_unknown';
  readonly operationId: string;
  readonly at: number;
  readonly tries: number;
}

/** A record of a pack, as stored. */
export interface StoredRecord extends Omit<PackRecord, 'data'> {
  readonly pack: string;
  /** Encrypted JSON. */
  readonly data: string;
}

type OfPack<T> = T & { readonly pack: string };

export type StoredRecordId = Pick<StoredRecord, 'pack' | 'kind' | 'account' | 'id'>;

/** Records that packs keep in the same database. They are not part of the audit. */
export interface RecordStore {
  readonly getRecord: (id: StoredRecordId) => Promise<StoredRecord | undefined>;
  /**
   * Stores a record with the next version. `expected`: the version to replace, 0 for a new record;
   * undefined if another version is stored. Deletes the oldest records above the limit of its kind that
   * have an expiry.
   */
  readonly putRecord: (
    record: Omit<StoredRecord, 'version'>,
    expected?: number,
  ) => Promise<StoredRecord | undefined>;
  readonly records: (query: OfPack<RecordQuery>) => Promise<readonly StoredRecord[]>;
  readonly countRecords: (filter: OfPack<RecordFilter>) => Promise<number>;
  readonly removeRecord: (id: StoredRecordId) => Promise<void>;
}

/**
 * Stores operations and everything recorded with them. The contract of all stores, tested by one suite
 * (`store/contract`):
 *
 * - Every method is one atomic transition, durable when its promise resolves.
 * - Transitions that send, settle or decide append their audit row atomically. A claim has no effect
 *   outside the journal and appends none.
 * - Leases and hold times are measured on the store's clock.
 * - A failed write rejects with a `JournalError`, and nothing has changed unless its `maybeDone`
 *   is true.
 */
export interface JournalStore extends RecordStore {
  readonly kind: 'memory' | 'sqlite' | 'postgres';
  /** A warning for the operator about the durability of this store, if any. */
  readonly caution?: string;
  readonly now: () => Promise<number>;

  /**
   * Registers a process as an owner with a lease. Registering an id again ends its earlier lease: its
   * claims are handled as in `sweep`.
   */
  readonly registerOwner: (owner: Owner, leaseMs: number) => Promise<void>;
  /** Extends the lease. False: the lease has expired, and the owner has lost its claims. */
  readonly renew: (owner: string, leaseMs: number) => Promise<boolean>;
  /** Ends the lease at shutdown; claims of the owner are handled as in `sweep`. `owner` still finds it. */
  readonly deregisterOwner: (owner: string) => Promise<void>;
  /** Ends the lease of an owner whose process has ended, before it would expire. */
  readonly evictOwner: (owner: string) => Promise<void>;
  readonly owner: (id: string) => Promise<(Owner & { readonly leaseUntil: number }) | undefined>;
  /** Whether an owner with a live lease serves this tool and would execute its approved operations. */
  readonly hasLiveOwner: (tool: string) => Promise<boolean>;

  /**
   * Creates or resumes an operation for the caller, or returns the one that holds its dedup key. If the
   * lease of the holder's owner has expired, the holder is swept first; an `unknown` operation is always
   * `held`. Rejects with reason `lapsed` if the caller's own lease has expired.
   */
  readonly claim: (request: ClaimRequest) => Promise<ClaimResult>;
  /** Whether a claim would find an operation. Claims nothing. */
  readonly isHeld: (act: HeldQuery) => Promise<boolean>;
  /**
   * Claims an `unknown` operation with an open step for `owner`, after the outcome of the step was
   * established; the step stays open. Undefined if the operation is not in that state or its fence
   * differs from `fence`.
   */
  readonly takeOver: (id: string, owner: string, fence: number) => Promise<Operation | undefined>;
  /**
   * `claimed → sending`, called directly before the first byte leaves. Requires the fencing token and a
   * live lease. Granted again for a further attempt at the same request; each grant counts towards the
   * limits.
   */
  readonly send: (fencingToken: FencingToken, request: SendRequest) => Promise<SendResult>;
  /**
   * Stores the result of a step and returns the operation to `claimed`. Also accepted from `unknown`
   * while the fence matches; the operation then has no owner.
   */
  readonly completeStep: (
    fencingToken: FencingToken,
    step: string,
    result: string,
  ) => Promise<boolean>;
  /** Removes an open step that was not executed, so that it can be sent again. */
  readonly reopenStep: (fencingToken: FencingToken, step: string) => Promise<boolean>;
  /** Records the result of a run. False: the caller no longer owns the operation, or it is settled. */
  readonly settle: (fencingToken: FencingToken, settlement: Settlement) => Promise<boolean>;
  /**
   * Records the established outcome of an operation that is `unknown`, or `claimed` without an owner,
   * as `reconciled`. `not_executed` releases its dedup key.
   */
  readonly reconcile: (id: string, reconciliation: Reconciliation) => Promise<boolean>;
  /** Starts the content window of these operations at their last delivery. Appends no audit row. */
  readonly markDelivered: (deliveries: readonly Delivery[]) => Promise<void>;
  /**
   * Takes operations from owners whose lease has expired, and returns them:
   * - `claimed` without steps: `released`, or `awaiting_approval` again if it was approved;
   * - `claimed` with completed steps: stays `claimed`, without an owner;
   * - `claimed` with an open step: `unknown`;
   * - `sending`: `unknown`, and `owner` still names the sender; `released` if the effect is `idempotent`.
   */
  readonly sweep: () => Promise<readonly Operation[]>;
  /** Resolves to the operation when no owner works on it, or in its current state at `signal`. */
  readonly wait: (id: string, signal: AbortSignal) => Promise<Operation | undefined>;

  /**
   * `claimed → awaiting_approval`; with `byPolicy` approved already, until `scheduledFor`. `full`: the account has `maxPending` undecided approvals, and the
   * caller still owns the operation. Undefined: the caller no longer owns it.
   */
  readonly awaitApproval: (
    fencingToken: FencingToken,
    request: ApprovalRequest,
  ) => Promise<Operation | 'full' | undefined>;
  /**
   * Replaces the arguments of a pending approval. The operation then holds the dedup keys of the edited
   * and of the original arguments; those of an earlier edit are released.
   */
  readonly editApproval: (id: string, edit: ApprovalEdit) => Promise<DecisionResult>;
  readonly decideApproval: (id: string, decision: ApprovalDecision) => Promise<DecisionResult>;
  /**
   * Ends an operation that awaits approval, approved or not, without executing it, and releases its dedup
   * keys. False: it does not wait.
   */
  readonly withdraw: (id: string, by: string) => Promise<boolean>;
  /** Claims an approved operation of one of these tools for execution; undefined if there is none. */
  readonly takeApproved: (
    owner: string,
    tools: readonly string[],
  ) => Promise<Operation | undefined>;
  /**
   * Calls the listener after an approval, including approvals by other processes if the store can
   * detect them at once. Delivery is best effort: consumers must also poll.
   */
  readonly onApproved: (listener: () => void) => () => void;
  /** Closes approvals past their expiry. They hold their dedup keys for `holdMs`. */
  readonly expireApprovals: (holdMs: number) => Promise<readonly Operation[]>;

  readonly get: (id: string) => Promise<Operation | undefined>;
  readonly list: (filter?: OperationFilter) => Promise<readonly Operation[]>;
  readonly count: (states: readonly OperationState[]) => Promise<number>;
  /** The number of approvals that an operator has to decide. */
  readonly undecided: () => Promise<number>;

  /** Operations with hashes of an earlier version that are unsettled or hold a dedup key, unsettled first. */
  readonly oldHashes: (filter: {
    readonly accounts: readonly string[];
    readonly tools: readonly string[];
    readonly limit: number;
  }) => Promise<readonly Operation[]>;
  /** Moves the other operations of these accounts, settled and without a dedup key, to account `to`. */
  readonly moveFree: (
    accounts: readonly string[],
    tools: readonly string[],
    to: string,
  ) => Promise<void>;
  /** Replaces the account and hashes of an operation. False: already replaced. */
  readonly rehash: (id: string, to: Rehash) => Promise<boolean>;

  /**
   * Appends to the bounded table of calls; the oldest rows are deleted. With the report of the process
   * that made them, if it has one.
   */
  readonly recordCalls: (calls: readonly CallRow[], process?: ProcessReport) => Promise<void>;
  readonly calls: (filter?: CallFilter) => Promise<readonly StoredCall[]>;
  /** The range of `seq` that is stored; zeros without a call. */
  readonly callRange: () => Promise<{ readonly first: number; readonly last: number }>;
  /** Processes that share this store, the last report first. */
  readonly processes: () => Promise<readonly StoredProcess[]>;
  /** Which of these limits would refuse a send now, and for how long. Claims nothing. */
  readonly limitsReached: (
    limits: readonly Limit[],
  ) => Promise<readonly { readonly limit: Limit; readonly retryAfterMs: number }[]>;

  readonly audit: (entry: AuditEntry) => Promise<void>;
  readonly auditHead: () => Promise<{ readonly seq: number; readonly hash: string } | undefined>;
  /** In chain order. An unreadable row is returned with `malformed` set. */
  readonly auditRows: (from: number, limit: number) => Promise<readonly AuditRow[]>;
  /**
   * Operator decisions from `from` on, in chain order, and the `from` of the next call. With `from`
   * undefined: no rows, and the current end of the chain as `next`.
   */
  readonly operatorAuditRows: (
    from: number | undefined,
    limit: number,
  ) => Promise<{ readonly rows: readonly OperatorAuditRow[]; readonly next: number }>;

  /** Takes notifications that are due. A notification that is not marked as sent becomes due again. */
  readonly takeNotifications: (limit: number) => Promise<readonly Notification[]>;
  readonly markNotificationSent: (id: string) => Promise<void>;
  readonly rescheduleNotification: (id: string, againInMs: number) => Promise<void>;

  /** A property of the journal as a whole, such as the id of its encryption key. */
  readonly meta: (key: string) => Promise<string | undefined>;
  /** Sets a property if it is absent, and returns the stored value. */
  readonly initMeta: (key: string, value: string) => Promise<string>;

  /**
   * Deletes operations settled before this time that hold no dedup key and are not needed to reconcile
   * an unsettled one. Audit rows stay. Resolves to the number of deleted operations.
   */
  readonly prune: (settledBefore: number) => Promise<number>;
  readonly close: () => Promise<void>;
}

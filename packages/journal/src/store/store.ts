import type { FailureOutcome } from '@toolkeel/contract';
import type { AuditRow } from '../audit/chain.js';
import type { Approval, DedupKey, Operation, OperationState, Owner } from '../operation.js';

/** Proof of ownership. Whatever does not match the stored fence and owner changes nothing. */
export interface FencingToken {
  readonly id: string;
  readonly owner: string;
  readonly fence: number;
}

/** What is asked for, as far as it can be found again. */
export interface Act {
  readonly account: string;
  readonly tool: string;
  readonly dedupKey: DedupKey;
  /**
   * The caller's own key, where the identity is something else: the operation is found under both, and
   * the key is looked at first.
   */
  readonly key?: string;
}

export interface ClaimRequest extends Act {
  /** The id of the operation, should it be new. */
  readonly id: string;
  readonly owner: string;
  readonly effect: Operation['effect'];
  readonly argsHash: string;
  readonly args: string;
  readonly correlationId: string;
  /**
   * What its content is, normalised: an operation with the same content that is in flight, unknown or
   * executed answers the call, whatever names either of them. Only for `once`; default: names alone count.
   */
  readonly content?: string;
  /** How long an explicit key is kept that is bound to the operation which answers it. Default: not at all. */
  readonly keyHoldMs?: number;
  /**
   * A repeat is meant: a settled operation gives up the slot; beside an unsettled one the new
   * operation goes without a slot. Means nothing for what is found under the caller's key.
   */
  readonly allowDuplicate: boolean;
}

/** What is asked about without claiming it. */
export type HeldQuery = Act &
  Pick<ClaimRequest, 'allowDuplicate' | 'content'> &
  Partial<Pick<ClaimRequest, 'effect'>>;

export type ClaimResult =
  /** The caller owns it now. `resumed`: it was begun before, and has steps that are done or open. */
  | { readonly kind: 'mine'; readonly operation: Operation; readonly resumed: boolean }
  /** Somebody else has it, or it is over and is to be replayed: its state says which. */
  | { readonly kind: 'held'; readonly operation: Operation }
  /**
   * Another explicit key was given to an operation with the same content, which is unknown or whose
   * result was not delivered: two acts may be meant, and the first may have happened already.
   */
  | { readonly kind: 'conflict'; readonly operation: Operation };

/** How much may be sent. Counted over all processes, claimed before the send. */
export interface Limit {
  /** Who counts together: a rule's name, a tool, everything. */
  readonly name: string;
  readonly max: number;
  readonly windowMs: number;
}

export interface SendRequest {
  /** For an operation of several steps: which one. */
  readonly step?: string;
  readonly limits: readonly Limit[];
  /** The rule that allowed it, for the audit. */
  readonly rule?: string;
  /** What the whole operation is estimated to cost, for the audit of its first send. */
  readonly cost?: Approval['cost'];
  /** Operations whose slots become free with it, because it may undo them. */
  readonly releases?: readonly string[];
  /** Not while an operation with the same content and another explicit key is unknown. */
  readonly exclusive?: boolean;
}

export type SendResult =
  | { readonly kind: 'sent'; readonly at: number }
  /** It is not the caller's any more: nothing may be sent. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'conflict'; readonly operation: Operation }
  | { readonly kind: 'limited'; readonly limit: Limit; readonly retryAfterMs: number };

/** How long the content of an executed operation is held. */
interface ContentHold {
  /** Until its result was delivered. */
  readonly holdMs: number;
  /** From its last delivery on. */
  readonly windowMs: number;
}

/** An answer that stated the final outcome of an operation has reached its caller. */
export interface Delivery {
  readonly id: string;
  /** How long ago. */
  readonly agoMs: number;
}

export interface Settlement {
  /**
   * `claimed`: it stopped half way, without an owner, and a re-issue goes on at its first open step.
   * `awaiting_approval`: a person approved it, and it cannot be carried out now, so it waits on as
   * approved, and takeApproved gives it again after `holdMs`.
   * From `unknown` (the lease had lapsed meanwhile) a definite end becomes `reconciled`.
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
  /** How long the slot stays taken from now; 0 frees it. Means nothing for unsettled states. */
  readonly holdMs: number;
  /** The same for the caller's key, where something else names the act. Default: as long. */
  readonly keyHoldMs?: number;
  /** A `once` operation was executed: its content is held by this rule, and not for `holdMs`. */
  readonly content?: ContentHold;
  /**
   * Of `unknown`: the call's time is over, its handler is not. Its owner stays, because it can still
   * send, and can still say how it ended.
   */
  readonly stillRunning?: true;
  /** Nothing had left after all: what the limits counted is given back. */
  readonly refund?: boolean;
  /** Operations whose slots become free with it, because it undid them. */
  readonly releases?: readonly string[];
  /** Why, for the audit: the rule of a policy that ended it. */
  readonly reason?: string;
  /** A counted repeat: where nothing of it was sent, approved or done it is deleted, without an audit row. */
  readonly discard?: boolean;
}

/** What an operation of an earlier version is by the present recipe. */
export interface Rehash {
  readonly account: string;
  readonly argsHash: string;
  /** Of the arguments after an edit. */
  readonly editedHash?: string;
  /** What its template gives now, where one names it. */
  readonly template?: string;
}

export interface Verdict {
  readonly outcome: 'executed' | 'not_executed';
  readonly answer: string;
  readonly code: string;
  readonly holdMs: number;
  readonly keyHoldMs?: number;
  readonly content?: ContentHold;
  readonly by: string;
  readonly reason?: string;
  /** What was seen that proves it, for the audit. */
  readonly evidence?: unknown;
  /** Operations whose slots become free with it, because it undid them. */
  readonly releases?: readonly string[];
}

export interface ApprovalRequest extends Pick<
  Approval,
  'rule' | 'explanation' | 'hash' | 'expiresAt' | 'cost' | 'duplicate' | 'sensitive'
> {
  /** How many of one account may wait for a decision at the same time. Default: any number. */
  readonly maxPending?: number;
  readonly encryptedArgs: string;
  readonly answer: string;
}

export interface ApprovalEdit {
  /** The hash that the editor saw. */
  readonly expected: string;
  readonly hash: string;
  /** What the edited arguments are the same act as. */
  readonly dedupKey: DedupKey;
  readonly encryptedArgs: string;
  /** What it would cost now; without it nobody knows. */
  readonly cost?: Approval['cost'];
  readonly by: string;
}

export interface ApprovalDecision {
  readonly decision: 'approved' | 'rejected';
  /** Must be the hash that is stored, so that nobody approves what he has not seen. */
  readonly hash: string;
  readonly by: string;
  readonly reason?: string;
  /** How long a rejection holds the slot. */
  readonly holdMs: number;
}

export type DecisionResult =
  | { readonly kind: 'decided'; readonly operation: Operation }
  | { readonly kind: 'already'; readonly operation: Operation }
  | { readonly kind: 'expired'; readonly operation: Operation }
  | { readonly kind: 'changed'; readonly operation: Operation }
  | { readonly kind: 'not_waiting'; readonly operation: Operation }
  /** What it would become is what this other one does or did. */
  | { readonly kind: 'taken'; readonly operation: Operation }
  | { readonly kind: 'absent' };

export interface OperationFilter {
  /**
   * One that cannot be read is marked, and the others are given. By default it is an error: whoever
   * concludes something from what there is must not overlook any.
   */
  readonly damaged?: 'shown';
  readonly states?: readonly OperationState[];
  readonly tool?: string;
  readonly tools?: readonly string[];
  readonly account?: string;
  readonly owner?: string;
  readonly dedupKey?: DedupKey;
  readonly argsHash?: string;
  /** Whether one of its steps was sent and has no known outcome. */
  readonly stepOpen?: boolean;
  /** How its id begins, for people who write no more of it. */
  readonly idPrefix?: string;
  /** Created at or after, and before. */
  readonly since?: number;
  readonly until?: number;
  /** Settled at or after. */
  readonly settledSince?: number;
  readonly holdsDedupKey?: boolean;
  /** Has no slot, because another operation of the same name has it, and is found by its content. */
  readonly withoutDedupKey?: true;
  /** Newest first; the default is 100. `before` continues after the last one of a page. */
  readonly limit?: number;
  readonly before?: string;
  /** Oldest first, and then `before` continues after the last one of a page as well. */
  readonly order?: 'oldest';
}

/** One call of a tool, read or mutation, as the console and reports show it. */
export interface CallRow {
  readonly correlationId: string;
  readonly tool: string;
  readonly account?: string;
  readonly code: string;
  readonly at: number;
  readonly elapsedMs: number;
  readonly attempts: number;
  /** Of that time, what was spent waiting: between attempts, and for a turn. Of requests side by side, their sum. */
  readonly waitedMs: number;
  readonly operationId?: string;
}

export interface AuditEntry {
  readonly kind: string;
  readonly operationId?: string;
  readonly tool?: string;
  readonly account?: string;
  readonly actor: string;
  /** JSON members without secrets. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** A row of the audit that tells what a person decided. */
export type OperatorAuditRow = Pick<AuditRow, 'seq' | 'kind' | 'operationId' | 'actor' | 'detail'>;

/** Something a person should hear of. Written with the transition that causes it, told afterwards. */
export interface Notification {
  readonly id: string;
  readonly kind: 'approval_requested' | 'operation_unknown';
  readonly operationId: string;
  readonly at: number;
  readonly tries: number;
}

/**
 * Where operations are kept. Every method is one atomic, durable transition, and those that send, end
 * or decide write their audit row with it; a claim changes nothing in the world and writes none. All
 * stores keep the same contract, and one suite of tests says so. A store that cannot write throws a
 * JournalError: nothing was changed then, unless the error says that nobody knows.
 */
export interface JournalStore {
  readonly kind: 'memory' | 'sqlite' | 'postgres';
  /** Why its operator should not rely on it as it is set up. */
  readonly caution?: string;
  readonly now: () => Promise<number>;

  /** A process that enlists anew under its old id has lost what it owned before. */
  readonly registerOwner: (owner: Owner, leaseMs: number) => Promise<void>;
  /** False: the lease had lapsed, and what it owned is not its own any more. */
  readonly renew: (owner: string, leaseMs: number) => Promise<boolean>;
  /** Ends the lease: what it has is as if swept. Who it was can still be asked. */
  readonly deregisterOwner: (owner: string) => Promise<void>;
  /** Its process is gone: its lease ends now, and not when it would have lapsed. */
  readonly evictOwner: (owner: string) => Promise<void>;
  readonly owner: (id: string) => Promise<(Owner & { readonly leaseUntil: number }) | undefined>;
  /** Whether a process with a live lease has this tool, and so executes what is approved for it. */
  readonly hasLiveOwner: (tool: string) => Promise<boolean>;

  /**
   * A holder whose owner has lapsed is swept first. `unknown` is always `held`. Throws a JournalError
   * of reason `lapsed` when the caller's own lease is over.
   */
  readonly claim: (request: ClaimRequest) => Promise<ClaimResult>;
  /** Whether a claim would meet an operation, without claiming anything. */
  readonly isHeld: (act: HeldQuery) => Promise<boolean>;
  /**
   * An `unknown` operation with an open step changes hands, because somebody found out how the step
   * ended: it is `claimed` by `owner`, the step still open. Undefined unless the fence is that.
   */
  readonly takeOver: (id: string, owner: string, fence: number) => Promise<Operation | undefined>;
  /**
   * `claimed → sending`, fenced, durable, and only while the owner's lease lives. Granted again for a
   * further attempt at the same request; what it passes as limits is counted again.
   */
  readonly send: (fencingToken: FencingToken, request: SendRequest) => Promise<SendResult>;
  /**
   * A step is done: its result is kept, and the operation is `claimed` again. From `unknown` too,
   * for a former owner whose fence still matches; it is `claimed` without owner then.
   */
  readonly completeStep: (
    fencingToken: FencingToken,
    step: string,
    result: string,
  ) => Promise<boolean>;
  /** A step that nobody knew the end of was not carried out: it may be sent anew. */
  readonly reopenStep: (fencingToken: FencingToken, step: string) => Promise<boolean>;
  readonly settle: (fencingToken: FencingToken, settlement: Settlement) => Promise<boolean>;
  /**
   * From `unknown`, or `claimed` half way and without an owner, to `reconciled`. `not_executed` frees
   * the slot.
   */
  readonly reconcile: (id: string, verdict: Verdict) => Promise<boolean>;
  /** The content window of these starts at their last delivery. Writes no audit row. */
  readonly markDelivered: (deliveries: readonly Delivery[]) => Promise<void>;
  /**
   * What owners that lapsed have left. `claimed`: released, or without an owner once a step is done,
   * or waiting for the next to take it where a person approved it. `sending`, or a step that is open:
   * `unknown`, and `owner` still says who had it; `released` where repeating gives the same end state.
   */
  readonly sweep: () => Promise<readonly Operation[]>;
  /** Resolves when nobody works on the operation any more, or at `signal`; to its last known state. */
  readonly wait: (id: string, signal: AbortSignal) => Promise<Operation | undefined>;

  /** `full`: as many wait as may, and it is still the caller's. Undefined: it is not. */
  readonly awaitApproval: (
    fencingToken: FencingToken,
    request: ApprovalRequest,
  ) => Promise<Operation | 'full' | undefined>;
  /**
   * The operation holds what it becomes from then on, and still what it was asked for. What it was in
   * between, it gives up.
   */
  readonly editApproval: (id: string, edit: ApprovalEdit) => Promise<DecisionResult>;
  readonly decideApproval: (id: string, decision: ApprovalDecision) => Promise<DecisionResult>;
  /** Claims an approved operation for execution; undefined when none of these tools has one. */
  readonly takeApproved: (
    owner: string,
    tools: readonly string[],
  ) => Promise<Operation | undefined>;
  /**
   * Calls when something was approved, also by another process where the store can say so at once.
   * A hint: whoever waits for approvals asks now and then all the same.
   */
  readonly onApproved: (listener: () => void) => () => void;
  /** Approvals whose time is over. They hold their slot for `holdMs`. */
  readonly expireApprovals: (holdMs: number) => Promise<readonly Operation[]>;

  readonly get: (id: string) => Promise<Operation | undefined>;
  readonly list: (filter?: OperationFilter) => Promise<readonly Operation[]>;
  readonly count: (states: readonly OperationState[]) => Promise<number>;

  /** Operations of earlier versions that are open or hold a slot, the open ones first. */
  readonly oldHashes: (filter: {
    readonly accounts: readonly string[];
    readonly tools: readonly string[];
    readonly limit: number;
  }) => Promise<readonly Operation[]>;
  /** The same of those that are over and hold no slot: only their account is changed. */
  readonly moveFree: (
    accounts: readonly string[],
    tools: readonly string[],
    to: string,
  ) => Promise<void>;
  /** False: it has been done already. */
  readonly rehash: (id: string, to: Rehash) => Promise<boolean>;

  readonly recordCalls: (calls: readonly CallRow[]) => Promise<void>;
  readonly calls: (filter?: {
    readonly since?: number;
    readonly limit?: number;
  }) => Promise<readonly CallRow[]>;

  readonly audit: (entry: AuditEntry) => Promise<void>;
  readonly auditHead: () => Promise<{ readonly seq: number; readonly hash: string } | undefined>;
  /** In the order of the chain. A row that cannot be read comes as it is, marked. */
  readonly auditRows: (from: number, limit: number) => Promise<readonly AuditRow[]>;
  /** What people decided, in the order of the chain, and where to go on. Without a place: what comes now. */
  readonly operatorAuditRows: (
    from: number | undefined,
    limit: number,
  ) => Promise<{ readonly rows: readonly OperatorAuditRow[]; readonly next: number }>;

  /** Notices that are due; each is told by one process at a time. */
  readonly takeNotifications: (limit: number) => Promise<readonly Notification[]>;
  readonly markNotificationSent: (id: string) => Promise<void>;
  readonly rescheduleNotification: (id: string, againInMs: number) => Promise<void>;

  /** Facts about the journal as a whole, such as which key seals it. */
  readonly meta: (key: string) => Promise<string | undefined>;
  /** The first value stays, whoever sets it; gives the one that is kept. */
  readonly initMeta: (key: string, value: string) => Promise<string>;

  /** Deletes what settled before and holds no slot, unless a person has still to act. Audit rows stay. */
  readonly prune: (settledBefore: number) => Promise<number>;
  readonly close: () => Promise<void>;
}

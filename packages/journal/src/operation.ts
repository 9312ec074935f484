import type { FailureOutcome } from '@toolkeel/contract';
import type { Effect } from '@toolkeel/kernel';
import { hash } from 'node:crypto';

/**
 * The state of an operation.
 * - `claimed`: an owner process prepares it; without an owner, it stopped after some of its steps.
 * - `sending`: the request may have left; it is never sent by another owner.
 * - `succeeded`, `rejected`: executed, or definitely refused by the upstream. The answer is replayed.
 * - `unknown`: the request was sent and its outcome is not known. It is never sent again.
 * - `reconciled`: a read-back or an operator established the outcome of an `unknown` operation.
 * - `awaiting_approval`, `denied`, `expired`: an operator has to decide, refused, or did not decide in time.
 * - `released`: not executed, or safe to repeat. Its dedup key is free.
 */
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
 * Identifies an act: two calls of one account and tool with equal dedup keys are the same act.
 * `key`: the caller's idempotency key. `template`: the rendered key template of the tool or the
 * configuration. `content`: a hash of all arguments.
 */
export interface DedupKey {
  readonly by: 'key' | 'template' | 'content';
  readonly value: string;
}

/** The dedup key within its account and tool. At most one operation holds it at a time. */
export function scopedDedupKey(account: string, tool: string, { by, value }: DedupKey): string {
  return hash('sha256', JSON.stringify([account, tool, by, value]));
}

export function isSameDedupKey(one: DedupKey, other: DedupKey): boolean {
  return one.by === other.by && one.value === other.value;
}

/** The caller's idempotency key, if any. */
export function keyGivenTo({
  key,
  dedupKey,
}: Pick<Operation, 'key' | 'dedupKey'>): string | undefined {
  return dedupKey.by === 'key' ? dedupKey.value : key;
}

/** One part of an operation, such as one post of a thread. */
export interface Step {
  readonly name: string;
  /** `sending`: the step is open. The request may have left, and its outcome is not known yet. */
  readonly state: 'sending' | 'done';
  /** JSON; present once the step is done. */
  readonly result?: string;
  readonly at: number;
  /** The owner that sent an open step; absent once that owner recorded the outcome as unknown. */
  readonly owner?: string;
}

export interface Approval {
  /** The policy rule that requires it. */
  readonly rule: string;
  readonly explanation: string;
  /** Hash of the arguments as requested or as last edited. A decision has to name it. */
  readonly hash: string;
  readonly requestedAt: number;
  readonly expiresAt: number;
  readonly cost?: { readonly amount: number; readonly unit: string };
  /** The caller set `allow_duplicate`. */
  readonly duplicate?: true;
  /** Names of masked arguments. Stored here because the deciding process may not have the tool. */
  readonly sensitive?: readonly string[];
  /** Encrypted JSON of the edited arguments; the operation keeps the requested ones. */
  readonly editedArgs?: string;
  /** The operator of the last edit. */
  readonly editedBy?: string;
  readonly editedAt?: number;
  /** The requested time of execution. */
  readonly scheduledFor?: number;
  /** Encrypted JSON of the calls on whose behalf it was made: their rules and limits apply too. */
  readonly onBehalfOf?: string;
  /** The policy allowed the call, which only waits for its time: `decision` is not an operator's. */
  readonly byPolicy?: true;
  readonly decision?: 'approved' | 'rejected';
  readonly decidedAt?: number;
  readonly decidedBy?: string;
  readonly reason?: string;
}

/** One mutation, from claim to final outcome. Times are Unix milliseconds on the store's clock. */
export interface Operation {
  readonly id: string;
  readonly account: string;
  readonly tool: string;
  readonly effect: Exclude<Effect, 'read'>;
  readonly dedupKey: DedupKey;
  /** The caller's idempotency key, where a template identifies the act. */
  readonly key?: string;
  /** Hash of all arguments. One idempotency key with two different hashes is a conflict. */
  readonly argsHash: string;
  /** JSON of the arguments; encrypted if one is sensitive or a policy may require approval. */
  readonly args: string;
  readonly state: OperationState;
  /** Whether the upstream acted. Present once the operation settled. */
  readonly outcome?: FailureOutcome;
  /** Fencing counter: grows with every change of owner, so that a former owner can change nothing. */
  readonly fence: number;
  /** The owner process. Of an `unknown` operation: the expired owner, which might still send. */
  readonly owner?: string;
  readonly correlationId: string;
  readonly createdAt: number;
  readonly sendingAt?: number;
  readonly settledAt?: number;
  /** When a settled operation releases its dedup key; absent while unsettled or after the release. */
  readonly heldUntil?: number;
  /** When its final answer last reached a caller. Recorded for executed `once` operations. */
  readonly deliveredAt?: number;
  readonly holdsDedupKey: boolean;
  /** JSON of the answer that repeats receive. */
  readonly answer?: string;
  /** `ok` or the error code of that answer. */
  readonly code?: string;
  readonly steps: readonly Step[];
  readonly approval?: Approval;
  /** Which part of the row is unreadable. Steps and approval are absent then, and no process resumes it. */
  readonly damaged?: string;
}

/** A process that owns operations while its lease lives. */
export interface Owner {
  readonly id: string;
  /** Identifies the process together with `pid` and `startedAt`, to tell a dead process from a silent one. */
  readonly host: string;
  readonly pid: number;
  readonly startedAt: string;
  /** Tools that it can execute, for approved operations. */
  readonly tools: readonly string[];
}

import type { FailureOutcome } from '@toolkeel/contract';
import type { Effect } from '@toolkeel/kernel';

/**
 * Where an operation is. `claimed → sending → succeeded | rejected | unknown → reconciled`, beside
 * them the states of an approval. `released`: surely or harmlessly over, and its slot is free again.
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

/** What makes two calls the same act. Content is a fingerprint over all arguments. */
export interface DedupKey {
  readonly by: 'key' | 'template' | 'content';
  readonly value: string;
}

export function isSameDedupKey(one: DedupKey, other: DedupKey): boolean {
  return one.by === other.by && one.value === other.value;
}

/** The key that its caller gave it, if any. */
export function keyGivenTo({
  key,
  dedupKey,
}: Pick<Operation, 'key' | 'dedupKey'>): string | undefined {
  return dedupKey.by === 'key' ? dedupKey.value : key;
}

/** One part of a longer operation, such as a post of a thread. */
export interface Step {
  readonly name: string;
  /** `sending`: the first byte may have left, and nobody has said yet how it ended. */
  readonly state: 'sending' | 'done';
  /** JSON, once it is done. */
  readonly result?: string;
  readonly at: number;
  /** Who sent it, while it is open; absent once that one has said itself that it does not know the end. */
  readonly owner?: string;
}

export interface Approval {
  /** The rule that asks for it. */
  readonly rule: string;
  readonly explanation: string;
  /** The fingerprint that a decision must name: of the arguments as they were, or as last edited. */
  readonly hash: string;
  readonly requestedAt: number;
  readonly expiresAt: number;
  readonly cost?: { readonly amount: number; readonly unit: string };
  /** It was asked for as a repeat that is meant. */
  readonly duplicate?: true;
  /** Arguments that are not shown. Kept with the approval, because who decides may not have the tool. */
  readonly sensitive?: readonly string[];
  /** Sealed JSON of the arguments after an edit; the operation keeps the original ones. */
  readonly editedArgs?: string;
  /** Of the last edit. */
  readonly editedBy?: string;
  readonly editedAt?: number;
  readonly decision?: 'approved' | 'rejected';
  readonly decidedAt?: number;
  readonly decidedBy?: string;
  readonly reason?: string;
}

/** One mutation, from claim to final outcome. Times are milliseconds since 1970 on the store's clock. */
export interface Operation {
  readonly id: string;
  readonly account: string;
  readonly tool: string;
  readonly effect: Exclude<Effect, 'read'>;
  readonly dedupKey: DedupKey;
  /** The caller's own key, where something else says which act it is. */
  readonly key?: string;
  /** Fingerprint over all arguments: of a key's other arguments a conflict is made. */
  readonly argsHash: string;
  /** JSON of the arguments; sealed where one of them is sensitive, or a policy may ask a person. */
  readonly args: string;
  readonly state: OperationState;
  /** What is known of the world: present once the operation settled. */
  readonly outcome?: FailureOutcome;
  /** Grows whenever the operation changes hands, so that a former owner is recognised. */
  readonly fence: number;
  /** Who works on it; of an `unknown` one, who lapsed with it and might still be about to send. */
  readonly owner?: string;
  readonly correlationId: string;
  readonly createdAt: number;
  readonly sendingAt?: number;
  readonly settledAt?: number;
  /** Until when its slot stays taken after it settled; absent while unsettled, or when it is free. */
  readonly heldUntil?: number;
  /** When its final answer last reached a caller. Kept for `once` operations that were executed. */
  readonly deliveredAt?: number;
  /** Whether it still holds its slot. */
  readonly holdsDedupKey: boolean;
  /** JSON of the answer that is replayed: what a tool's run settled with. */
  readonly answer?: string;
  /** `ok` or the error code of that answer. */
  readonly code?: string;
  readonly steps: readonly Step[];
  readonly approval?: Approval;
  /** What of it cannot be read. Its steps and its approval are missing then, and nobody goes on with it. */
  readonly damaged?: string;
}

/** A process that owns operations. Whoever has lapsed owns nothing any more. */
export interface Owner {
  readonly id: string;
  /** Of the machine, with `pid` and `startedAt`: for telling a dead process from a silent one. */
  readonly host: string;
  readonly pid: number;
  readonly startedAt: string;
  /** Tools that it can carry out, for operations that a person approves. */
  readonly tools: readonly string[];
}

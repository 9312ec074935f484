import { JournalError } from '../error.js';
import type { Operation, OperationState } from '../operation.js';
import type { AuditEntry, FencingToken } from './store.js';

type Stored<T> = {
  readonly [K in keyof T]-?: Pick<T, K> extends Required<Pick<T, K>> ? T[K] : T[K] | undefined;
};

/** An operation as stored. `scopedKey` is set until the dedup key is released or taken over. */
export interface OperationRecord extends Stored<Omit<Operation, 'holdsDedupKey' | 'damaged'>> {
  readonly scopedKey: string | undefined;
  /** A second scoped key: that of the explicit key, or of the original arguments after an edit. */
  readonly secondaryDedupKey: string | undefined;
  /** When the hold of `secondaryDedupKey` ends after settlement. */
  readonly secondaryUntil: number | undefined;
  /** The scoped key of the original content, unless one of the two keys above is that. */
  readonly contentDedupKey: string | undefined;
  /** The scoped key of the edited content, likewise. */
  readonly editedDedupKey: string | undefined;
  /** When the hold of the two content keys ends after settlement. */
  readonly contentUntil: number | undefined;
  /** How long the content is held after a delivery. Set only for executed `once` operations. */
  readonly windowMs: number | undefined;
  /** The number of sends. Entries of the policy limits refer to one of them. */
  readonly sends: number;
  /** Approved, but not to be executed before this time. */
  readonly notBefore: number | undefined;
}

/** A record of a listing; `damaged` says why part of it is unreadable. */
export interface ListedRecord extends OperationRecord {
  readonly damaged?: string;
}

export type RecordChanges = Partial<Omit<OperationRecord, 'id' | 'createdAt'>>;

/** The public view of a record. An expired hold counts as released even before another claim takes the key. */
export function toOperation(record: ListedRecord, now: number): Operation {
  const operation: { -readonly [K in keyof Operation]: Operation[K] } = {
    id: record.id,
    account: record.account,
    tool: record.tool,
    effect: record.effect,
    dedupKey: record.dedupKey,
    argsHash: record.argsHash,
    args: record.args,
    state: record.state,
    fence: record.fence,
    correlationId: record.correlationId,
    createdAt: record.createdAt,
    holdsDedupKey: record.scopedKey !== undefined && !isExpired(record.heldUntil, now),
    steps: record.steps,
  };
  if (record.key !== undefined) operation.key = record.key;
  if (record.outcome !== undefined) operation.outcome = record.outcome;
  if (record.owner !== undefined) operation.owner = record.owner;
  if (record.sendingAt !== undefined) operation.sendingAt = record.sendingAt;
  if (record.settledAt !== undefined) operation.settledAt = record.settledAt;
  if (record.heldUntil !== undefined) operation.heldUntil = record.heldUntil;
  if (record.deliveredAt !== undefined) operation.deliveredAt = record.deliveredAt;
  if (record.answer !== undefined) operation.answer = record.answer;
  if (record.code !== undefined) operation.code = record.code;
  if (record.approval !== undefined) operation.approval = record.approval;
  if (record.damaged !== undefined) operation.damaged = record.damaged;
  return operation;
}

/** Whether a hold has ended. */
export function isExpired(until: number | undefined, now: number): boolean {
  return until !== undefined && until <= now;
}

/** A copy with changes. Spelled out, because spreading this many members costs microseconds. */
export function withChanges(record: OperationRecord, changes: RecordChanges): OperationRecord {
  const copy: OperationRecord = {
    id: record.id,
    account: record.account,
    tool: record.tool,
    effect: record.effect,
    dedupKey: record.dedupKey,
    key: record.key,
    argsHash: record.argsHash,
    args: record.args,
    state: record.state,
    outcome: record.outcome,
    fence: record.fence,
    owner: record.owner,
    correlationId: record.correlationId,
    createdAt: record.createdAt,
    sendingAt: record.sendingAt,
    settledAt: record.settledAt,
    heldUntil: record.heldUntil,
    deliveredAt: record.deliveredAt,
    answer: record.answer,
    code: record.code,
    steps: record.steps,
    approval: record.approval,
    scopedKey: record.scopedKey,
    secondaryDedupKey: record.secondaryDedupKey,
    secondaryUntil: record.secondaryUntil,
    contentDedupKey: record.contentDedupKey,
    editedDedupKey: record.editedDedupKey,
    contentUntil: record.contentUntil,
    windowMs: record.windowMs,
    sends: record.sends,
    notBefore: record.notBefore,
  };
  return Object.assign(copy, changes);
}

export const IN_FLIGHT = ['claimed', 'sending'] as const satisfies readonly OperationState[];

/** States in which the outcome of a send, if there was one, is not recorded. */
export const UNSETTLED = [...IN_FLIGHT, 'unknown'] as const satisfies readonly OperationState[];

export const SETTLED = [
  'succeeded',
  'rejected',
  'reconciled',
  'denied',
  'expired',
  'released',
] as const satisfies readonly OperationState[];

const settled: readonly OperationState[] = SETTLED;

export function isSettled({ state }: Pick<OperationRecord, 'state'>): boolean {
  return settled.includes(state);
}

/** Whether an owner works on it, or did until its lease expired. */
export function isInFlight({
  state,
  owner,
}: Pick<Operation, 'state'> & { readonly owner?: string | undefined }): boolean {
  return owner !== undefined && (state === 'claimed' || state === 'sending');
}

/** Whether the holder of the fencing token still owns the operation. */
export function isHeldBy(
  record: OperationRecord | undefined,
  fencingToken: FencingToken,
): record is OperationRecord {
  return (
    record !== undefined &&
    record.owner === fencingToken.owner &&
    record.fence === fencingToken.fence
  );
}

/** The step that was sent and has no recorded outcome. */
export function openStep({ steps }: Pick<OperationRecord, 'steps'>): string | undefined {
  return steps.find(({ state }) => state === 'sending')?.name;
}

/** Which waiting callers a change wakes: those that wait for an owner to finish, or for an approval. */
export type Wakeup = 'ended' | 'approved';

export function wakeupOf(wasInFlight: boolean, after: OperationRecord): Wakeup | undefined {
  if (wasInFlight && !isInFlight(after)) return 'ended';
  const approved = after.approval?.decision === 'approved' && after.state === 'awaiting_approval';
  return approved ? 'approved' : undefined;
}

/** Whether some steps are completed, none is open, and no owner continues with it. */
export function isHalfDone({
  state,
  owner,
  steps,
}: Pick<Operation, 'state' | 'steps'> & { readonly owner?: string | undefined }): boolean {
  return state === 'claimed' && owner === undefined && steps.length > 0;
}

/** An operation settled earlier than this before a send cannot be confused with it. */
export const EARLIER_MS = 60_000;
/** Nor can one that was created later than this after the send. */
export const LATER_MS = 3_600_000;

/**
 * Whether the effect of the executed operation `done` could be mistaken for that of the unsettled
 * operation `open` when reading back from the upstream. Pruning keeps `done` as long as that is so.
 */
export function isNear(
  done: Pick<OperationRecord, 'createdAt' | 'settledAt'>,
  open: Pick<OperationRecord, 'sendingAt'>,
): boolean {
  if (open.sendingAt === undefined || done.settledAt === undefined) return false;
  return (
    done.settledAt >= open.sendingAt - EARLIER_MS && done.createdAt < open.sendingAt + LATER_MS
  );
}

export function auditEntry(
  kind: string,
  { id, tool, account, fence }: OperationRecord,
  actor: string,
  detail: Record<string, unknown> = {},
): AuditEntry {
  // Hot paths pass an object that already has `fence`: adding a member would change the object's shape.
  detail['fence'] = fence;
  return { kind, operationId: id, tool, account, actor, detail };
}

export function unknownCursor(id: string): JournalError {
  return new JournalError(
    'invalid',
    `There is no operation ${id} to continue the listing from. Start again without "before".`,
  );
}

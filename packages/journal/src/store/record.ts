import type { Operation, OperationState } from '../operation.js';
import type { AuditEntry, FencingToken } from './store.js';
import { JournalError } from '../error.js';

type Stored<T> = {
  readonly [K in keyof T]-?: Pick<T, K> extends Required<Pick<T, K>> ? T[K] : T[K] | undefined;
};

/** An operation as it is kept. The slot is there as long as nobody took it away. */
export interface OperationRecord extends Stored<Omit<Operation, 'holdsDedupKey' | 'damaged'>> {
  readonly scopedKey: string | undefined;
  /** Where it is found as well: under the caller's key, or as what it was asked for before an edit. */
  readonly secondaryDedupKey: string | undefined;
  /** Until when that stays taken after it settled. */
  readonly secondaryUntil: number | undefined;
  /** Its content, where calls of another name find it: what was asked for, unless a slot is that. */
  readonly contentDedupKey: string | undefined;
  /** The same for the arguments after an edit. */
  readonly editedDedupKey: string | undefined;
  /** Until when it is found by its content after it settled. */
  readonly contentUntil: number | undefined;
  /**
   * Executed, and its content is held until this long after a delivery. Absent where the content is not
   * held by delivery.
   */
  readonly windowMs: number | undefined;
  /** How often it was sent: what the limits counted belongs to one of these. */
  readonly sends: number;
  /** Approved, and not to be taken before. */
  readonly notBefore: number | undefined;
}

/** One of many: what is wrong with it keeps nobody from the others. */
export interface ListedRecord extends OperationRecord {
  readonly damaged?: string;
}

export type RecordChanges = Partial<Omit<OperationRecord, 'id' | 'createdAt'>>;

/** As everybody else sees it. A slot whose time is over is free, whether or not somebody took it. */
export function view(record: ListedRecord, now: number): Operation {
  const shown: { -readonly [K in keyof Operation]: Operation[K] } = {
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
    holdsDedupKey: record.scopedKey !== undefined && !isOver(record.heldUntil, now),
    steps: record.steps,
  };
  if (record.key !== undefined) shown.key = record.key;
  if (record.outcome !== undefined) shown.outcome = record.outcome;
  if (record.owner !== undefined) shown.owner = record.owner;
  if (record.sendingAt !== undefined) shown.sendingAt = record.sendingAt;
  if (record.settledAt !== undefined) shown.settledAt = record.settledAt;
  if (record.heldUntil !== undefined) shown.heldUntil = record.heldUntil;
  if (record.deliveredAt !== undefined) shown.deliveredAt = record.deliveredAt;
  if (record.answer !== undefined) shown.answer = record.answer;
  if (record.code !== undefined) shown.code = record.code;
  if (record.approval !== undefined) shown.approval = record.approval;
  if (record.damaged !== undefined) shown.damaged = record.damaged;
  return shown;
}

/** Whether the time that a settled operation holds a slot for has run out. */
export function isOver(until: number | undefined, now: number): boolean {
  return until !== undefined && until <= now;
}

/** The record with some of it changed. Spelt out, because spreading so many members costs microseconds. */
export function changed(record: OperationRecord, changes: RecordChanges): OperationRecord {
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

/** What was sent of it, if anything, has an end that is not known yet. */
export const UNSETTLED = [...IN_FLIGHT, 'unknown'] as const satisfies readonly OperationState[];

export const SETTLED = [
  'succeeded',
  'rejected',
  'reconciled',
  'denied',
  'expired',
  'released',
] as const satisfies readonly OperationState[];

const settled: ReadonlySet<OperationState> = new Set(SETTLED);

export function isSettled({ state }: Pick<OperationRecord, 'state'>): boolean {
  return settled.has(state);
}

/** Somebody works on it, or did until his lease lapsed. */
export function isInFlight({ state, owner }: Pick<OperationRecord, 'state' | 'owner'>): boolean {
  return owner !== undefined && (state === 'claimed' || state === 'sending');
}

/** Whether it is still the caller's. */
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

/** A step that was sent and of which nobody has said yet how it ended. */
export function openStep({ steps }: Pick<OperationRecord, 'steps'>): string | undefined {
  return steps.find(({ state }) => state === 'sending')?.name;
}

/** What others wait for: that nobody works on it any more, or that a person has approved it. */
export function newsOf(
  wasInFlight: boolean,
  after: OperationRecord,
): 'ended' | 'approved' | undefined {
  if (wasInFlight && !isInFlight(after)) return 'ended';
  const approved = after.approval?.decision === 'approved' && after.state === 'awaiting_approval';
  return approved ? 'approved' : undefined;
}

/** Some of its steps are done, none is open, and nobody goes on with it now. */
export function isHalfDone({
  state,
  owner,
  steps,
}: Pick<Operation, 'state' | 'steps'> & { readonly owner?: string | undefined }): boolean {
  return state === 'claimed' && owner === undefined && steps.length > 0;
}

/** What ended that long before something was sent has nothing to do with it. */
export const EARLIER_MS = 60_000;
/** Nor has what began that long after. */
export const LATER_MS = 3_600_000;

/**
 * Whether what one operation did may be taken for what the other, whose end nobody knows, has done. Who
 * looks for the one must be able to see the other: it is kept as long.
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
  // Whoever is in a hurry has named it already: one more member than an object was made for costs another object.
  detail['fence'] = fence;
  return { kind, operationId: id, tool, account, actor, detail };
}

export function unknownCursor(id: string): JournalError {
  return new JournalError(
    'invalid',
    `There is no operation ${id} to list on from. Begin again without "before".`,
  );
}

import type { Operation } from '../operation.js';

type Stored<T> = {
  readonly [K in keyof T]-?: Pick<T, K> extends Required<Pick<T, K>> ? T[K] : T[K] | undefined;
};

/** An operation as it is kept. The slot is there as long as nobody took it away. */
export interface OperationRecord extends Stored<Omit<Operation, 'holdsDedupKey' | 'damaged'>> {
  readonly scopedKey: string | undefined;
  /** Where it is found as well: under the caller's key, or as what it was asked for before an edit. */
  readonly secondaryDedupKey: string | undefined;
  /** Until when that stays taken after it settled. */
  readonly otherUntil: number | undefined;
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
  readonly restsUntil: number | undefined;
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
    otherUntil: record.otherUntil,
    contentDedupKey: record.contentDedupKey,
    editedDedupKey: record.editedDedupKey,
    contentUntil: record.contentUntil,
    windowMs: record.windowMs,
    sends: record.sends,
    restsUntil: record.restsUntil,
  };
  return Object.assign(copy, changes);
}

import {
  isInFlight,
  isOver,
  isSettled,
  type OperationRecord,
  type RecordChanges,
  view,
} from '../record.js';
import type { Act, ClaimRequest, ClaimResult, HeldQuery, Settlement } from '../store.js';
import { keyGivenTo } from '../../operation.js';
import type { Script } from '../script.js';
import type { Tables } from '../tables.js';

type HoldMs = Pick<Settlement, 'holdMs' | 'keyHoldMs' | 'content'>;

export const NOT_AT_ALL: HoldMs = { holdMs: 0 };

/** All slots of what settles now: each is kept for its own time, or given up. */
export function held(record: OperationRecord, now: number, hold: HoldMs): RecordChanges {
  const { scopedKey, secondaryDedupKey, key, dedupKey } = record;
  const { holdMs, keyHoldMs = holdMs, content } = hold;
  const contentMs = content?.holdMs ?? holdMs;
  const ownMs = dedupKey.by === 'content' ? contentMs : holdMs;
  // Members are added one by one: this is done for every operation, and spreading costs more than the rest.
  const changes: Changing = {
    scopedKey: ownMs > 0 ? scopedKey : undefined,
    // Of one without a slot, too: it may come to have the slot of another one.
    heldUntil: ownMs > 0 ? now + ownMs : undefined,
  };
  if (secondaryDedupKey !== undefined) {
    const otherMs = key === undefined ? contentMs : keyHoldMs;
    changes.secondaryDedupKey = otherMs > 0 ? secondaryDedupKey : undefined;
    changes.secondaryUntil = otherMs > 0 ? now + otherMs : undefined;
  }
  if (content) changes.windowMs = content.windowMs;
  if (isFoundByContent(record)) {
    if (content) changes.contentUntil = now + content.holdMs;
    else changes.contentDedupKey = changes.editedDedupKey = undefined;
  }
  return changes;
}

type Changing = { -readonly [K in keyof RecordChanges]: RecordChanges[K] };

function isFoundByContent({ contentDedupKey, editedDedupKey }: OperationRecord): boolean {
  return contentDedupKey !== undefined || editedDedupKey !== undefined;
}

/** From its delivery on, what was executed holds its content for the window alone. */
export function delivered(record: OperationRecord, at: number): RecordChanges {
  const { windowMs = 0, deliveredAt, scopedKey, secondaryDedupKey, key, dedupKey } = record;
  const until = (before: number | undefined): number =>
    deliveredAt === undefined ? at + windowMs : Math.max(before ?? 0, at + windowMs);
  const changes: Changing = { deliveredAt: Math.max(at, deliveredAt ?? 0) };
  if (scopedKey !== undefined && dedupKey.by === 'content')
    changes.heldUntil = until(record.heldUntil);
  if (secondaryDedupKey !== undefined && key === undefined)
    changes.secondaryUntil = until(record.secondaryUntil);
  if (isFoundByContent(record)) changes.contentUntil = until(record.contentUntil);
  return changes;
}

/** Nothing is found under this any more. */
export function givenUp(record: OperationRecord, scopedKey: string): RecordChanges {
  return record.scopedKey === scopedKey
    ? { scopedKey: undefined, heldUntil: undefined }
    : { secondaryDedupKey: undefined, secondaryUntil: undefined };
}

/** Another operation takes this slot: from now on it is found by its content alone. */
function movedToContent(record: OperationRecord, scopedKey: string): RecordChanges {
  const { dedupKey, windowMs } = record;
  const isContent =
    dedupKey.by === 'content' && record.scopedKey === scopedKey && windowMs !== undefined;
  if (!isContent) return givenUp(record, scopedKey);
  return {
    ...givenUp(record, scopedKey),
    contentDedupKey: scopedKey,
    contentUntil: record.heldUntil,
  };
}

/** An inverse has undone it: only an explicit key still stands for its answer. */
export function withoutContent(record: OperationRecord): RecordChanges {
  const { dedupKey, key } = record;
  return {
    windowMs: undefined,
    contentDedupKey: undefined,
    editedDedupKey: undefined,
    contentUntil: undefined,
    ...(dedupKey.by !== 'key' && { scopedKey: undefined, heldUntil: undefined }),
    ...(key === undefined && { secondaryDedupKey: undefined, secondaryUntil: undefined }),
  };
}

export function holds({ scopedKey, secondaryDedupKey }: OperationRecord, wanted: string): boolean {
  return scopedKey === wanted || secondaryDedupKey === wanted;
}

/** Whether the time that it holds this slot for has run out. */
export function isFreeAgain(record: OperationRecord, scopedKey: string, now: number): boolean {
  if (record.scopedKey === scopedKey) return isOver(record.heldUntil, now);
  return isOver(
    record.secondaryDedupKey === scopedKey ? record.secondaryUntil : record.contentUntil,
    now,
  );
}

/** An operation with the same content, under whatever name, and what it means for a call. */
export interface Equal {
  readonly record: OperationRecord;
  /** `met`: it answers the call. `conflict`: both have explicit keys, and the first may have happened. */
  readonly standing: 'met' | 'conflict';
}

/** What the operations with the same content mean for a call, the most telling first. */
export function equalsFor(
  records: readonly OperationRecord[],
  call: Pick<Act, 'dedupKey' | 'key'>,
  content: string,
  now: number,
): readonly Equal[] {
  return records
    .flatMap((record): readonly Equal[] => {
      const standing = standingOf(record, call, content, now);
      return standing === undefined ? [] : [{ record, standing }];
    })
    .toSorted(
      (one, other) => rankOf(one) - rankOf(other) || other.record.createdAt - one.record.createdAt,
    );
}

function standingOf(
  record: OperationRecord,
  call: Pick<Act, 'dedupKey' | 'key'>,
  content: string,
  now: number,
): Equal['standing'] | undefined {
  const isOver = isSettled(record);
  // Of what settled, only what was executed is held by its content.
  if (isOver && (record.windowMs === undefined || isFreeAgain(record, content, now))) {
    return undefined;
  }
  if (!haveDifferentKeys(record, call)) return 'met';
  const areTwoActs = isOver
    ? record.deliveredAt !== undefined
    : isInFlight(record) || record.state === 'awaiting_approval';
  return areTwoActs ? undefined : 'conflict';
}

export function haveDifferentKeys(
  record: OperationRecord,
  call: Pick<Act, 'dedupKey' | 'key'>,
): boolean {
  const [one, other] = [keyGivenTo(named(record)), keyGivenTo(call)];
  return one !== undefined && other !== undefined && one !== other;
}

function named({ dedupKey, key }: OperationRecord): Pick<Act, 'dedupKey' | 'key'> {
  return key === undefined ? { dedupKey } : { dedupKey, key };
}

/** A result is worth more than waiting, and waiting more than not knowing. */
function rankOf({ record, standing }: Equal): number {
  if (standing === 'conflict') return 4;
  if (isInFlight(record)) return 0;
  if (isSettled(record)) return 1;
  return record.state === 'awaiting_approval' ? 3 : 2;
}

/** What the first of them answers; undefined where the answer has to be written first. */
export function answerOf(
  { record, standing }: Equal,
  request: ClaimRequest,
  now: number,
): ClaimResult | undefined {
  if (standing === 'conflict') return { kind: 'conflict', operation: view(record, now) };
  if (canGoOn(record) || bindsKey(record, request)) return undefined;
  return { kind: 'held', operation: view(record, now) };
}

/** It stopped half way, and the caller goes on with it. */
export function canGoOn({ state, owner }: OperationRecord): boolean {
  return state === 'claimed' && owner === undefined;
}

/** From now on the caller's key stands for it: asking again with the key gives the same answer. */
export function bindsKey(record: OperationRecord, request: ClaimRequest): boolean {
  return (
    request.keyHoldMs !== undefined &&
    record.argsHash === request.argsHash &&
    keyGivenTo(request) !== undefined &&
    keyGivenTo(named(record)) === undefined
  );
}

export function* bindKey(
  { operations, now }: Tables,
  record: OperationRecord,
  request: ClaimRequest,
  keySlot: string,
): Script<OperationRecord> {
  const key = keyGivenTo(request);
  const secondaryUntil = isSettled(record) ? now + request.keyHoldMs! : undefined;
  // After an edit that place has what was asked for, which is found by its content from now on.
  const asked = record.secondaryDedupKey !== undefined && {
    contentDedupKey: record.secondaryDedupKey,
    contentUntil: record.secondaryUntil,
  };
  return yield* operations.update(record, {
    key,
    secondaryDedupKey: keySlot,
    secondaryUntil,
    ...asked,
  });
}

/**
 * What was carried out beside another one, because a repeat was meant, stands for the act from then on:
 * whoever repeats it gets what was done last. Not before: of a repeat that came to nothing, nothing is
 * left, and the first one still stands.
 */
export function* asLastDone(
  tables: Tables,
  operation: OperationRecord,
  placeOf: (act: Act) => string,
): Script<OperationRecord> {
  const { account, tool, dedupKey } = operation;
  if (operation.scopedKey !== undefined || dedupKey.by === 'key') return operation;
  const scopedKey = placeOf({ account, tool, dedupKey });
  const holder = yield* tables.operations.holder(scopedKey);
  if (holder !== undefined && !isSettled(holder)) return operation;
  // Found by its content, it still answers when this one does not any more.
  if (holder !== undefined)
    yield* tables.operations.update(holder, movedToContent(holder, scopedKey));
  return { ...operation, scopedKey };
}

/**
 * A repeat that was meant and executed beside an operation that had the template's slot, and has given it
 * up since: what the template names was done.
 */
export function* doneBeside(
  { operations, now }: Tables,
  { account, tool, dedupKey, effect }: HeldQuery,
): Script<OperationRecord | undefined> {
  if (effect !== 'once' || dedupKey.by !== 'template') return undefined;
  const beside = yield* operations.list({ account, tool, dedupKey, withoutDedupKey: true });
  return beside.find(
    (other) =>
      other.damaged === undefined &&
      isSettled(other) &&
      other.windowMs !== undefined &&
      !isOver(other.heldUntil, now),
  );
}

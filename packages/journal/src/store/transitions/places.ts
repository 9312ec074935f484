import { isOver, type OperationRecord, type RecordChanges } from '../record.js';
import type { Settlement } from '../store.js';

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
    changes.otherUntil = otherMs > 0 ? now + otherMs : undefined;
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
    changes.otherUntil = until(record.otherUntil);
  if (isFoundByContent(record)) changes.contentUntil = until(record.contentUntil);
  return changes;
}

/** Nothing is found under this any more. */
export function givenUp(record: OperationRecord, scopedKey: string): RecordChanges {
  return record.scopedKey === scopedKey
    ? { scopedKey: undefined, heldUntil: undefined }
    : { secondaryDedupKey: undefined, otherUntil: undefined };
}

/** Another operation takes this slot: from now on it is found by its content alone. */
export function movedToContent(record: OperationRecord, scopedKey: string): RecordChanges {
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
    ...(key === undefined && { secondaryDedupKey: undefined, otherUntil: undefined }),
  };
}

export function holds({ scopedKey, secondaryDedupKey }: OperationRecord, wanted: string): boolean {
  return scopedKey === wanted || secondaryDedupKey === wanted;
}

/** Whether the time that it holds this slot for has run out. */
export function isFreeAgain(record: OperationRecord, scopedKey: string, now: number): boolean {
  if (record.scopedKey === scopedKey) return isOver(record.heldUntil, now);
  return isOver(
    record.secondaryDedupKey === scopedKey ? record.otherUntil : record.contentUntil,
    now,
  );
}

import { isOver, type OperationRecord, type RecordChanges } from '../record.js';
import type { Settlement } from '../store.js';

type HoldMs = Pick<Settlement, 'holdMs' | 'keyHoldMs' | 'content'>;

export const NOT_AT_ALL: HoldMs = { holdMs: 0 };

/** All slots of what settles now: each is kept for its own time, or given up. */
export function held(record: OperationRecord, now: number, hold: HoldMs): RecordChanges {
  const { slot, otherSlot, key, identity } = record;
  const { holdMs, keyHoldMs = holdMs, content } = hold;
  const contentMs = content?.holdMs ?? holdMs;
  const ownMs = identity.by === 'content' ? contentMs : holdMs;
  // Members are added one by one: this is done for every operation, and spreading costs more than the rest.
  const changes: Changing = {
    slot: ownMs > 0 ? slot : undefined,
    // Of one without a slot, too: it may come to have the slot of another one.
    heldUntil: ownMs > 0 ? now + ownMs : undefined,
  };
  if (otherSlot !== undefined) {
    const otherMs = key === undefined ? contentMs : keyHoldMs;
    changes.otherSlot = otherMs > 0 ? otherSlot : undefined;
    changes.otherUntil = otherMs > 0 ? now + otherMs : undefined;
  }
  if (content) changes.windowMs = content.windowMs;
  if (isFoundByContent(record)) {
    if (content) changes.contentUntil = now + content.holdMs;
    else changes.contentSlot = changes.editedSlot = undefined;
  }
  return changes;
}

type Changing = { -readonly [K in keyof RecordChanges]: RecordChanges[K] };

function isFoundByContent({ contentSlot, editedSlot }: OperationRecord): boolean {
  return contentSlot !== undefined || editedSlot !== undefined;
}

/** From its delivery on, what was executed holds its content for the window alone. */
export function delivered(record: OperationRecord, at: number): RecordChanges {
  const { windowMs = 0, deliveredAt, slot, otherSlot, key, identity } = record;
  const until = (before: number | undefined): number =>
    deliveredAt === undefined ? at + windowMs : Math.max(before ?? 0, at + windowMs);
  const changes: Changing = { deliveredAt: Math.max(at, deliveredAt ?? 0) };
  if (slot !== undefined && identity.by === 'content') changes.heldUntil = until(record.heldUntil);
  if (otherSlot !== undefined && key === undefined) changes.otherUntil = until(record.otherUntil);
  if (isFoundByContent(record)) changes.contentUntil = until(record.contentUntil);
  return changes;
}

/** Nothing is found under this any more. */
export function givenUp(record: OperationRecord, slot: string): RecordChanges {
  return record.slot === slot
    ? { slot: undefined, heldUntil: undefined }
    : { otherSlot: undefined, otherUntil: undefined };
}

/** Another operation takes this slot: from now on it is found by its content alone. */
export function movedToContent(record: OperationRecord, slot: string): RecordChanges {
  const { identity, windowMs } = record;
  const isContent = identity.by === 'content' && record.slot === slot && windowMs !== undefined;
  if (!isContent) return givenUp(record, slot);
  return { ...givenUp(record, slot), contentSlot: slot, contentUntil: record.heldUntil };
}

/** An inverse has undone it: only an explicit key still stands for its answer. */
export function withoutContent(record: OperationRecord): RecordChanges {
  const { identity, key } = record;
  return {
    windowMs: undefined,
    contentSlot: undefined,
    editedSlot: undefined,
    contentUntil: undefined,
    ...(identity.by !== 'key' && { slot: undefined, heldUntil: undefined }),
    ...(key === undefined && { otherSlot: undefined, otherUntil: undefined }),
  };
}

export function holds({ slot, otherSlot }: OperationRecord, wanted: string): boolean {
  return slot === wanted || otherSlot === wanted;
}

/** Whether the time that it holds this slot for has run out. */
export function isFreeAgain(record: OperationRecord, slot: string, now: number): boolean {
  if (record.slot === slot) return isOver(record.heldUntil, now);
  return isOver(record.otherSlot === slot ? record.otherUntil : record.contentUntil, now);
}

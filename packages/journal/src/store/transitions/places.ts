import { isOver, type OperationRecord, type RecordChanges } from '../record.js';
import type { Settlement } from '../store.js';

type HoldMs = Pick<Settlement, 'holdMs' | 'keyHoldMs'>;

export const NOT_AT_ALL: HoldMs = { holdMs: 0 };

/** Both slots of what settles now: each is kept for its own time, or given up. */
export function held(
  { slot, otherSlot, key }: OperationRecord,
  now: number,
  { holdMs, keyHoldMs = holdMs }: HoldMs,
): RecordChanges {
  const taken = holdMs > 0 ? slot : undefined;
  const heldUntil = taken === undefined ? undefined : now + holdMs;
  if (otherSlot === undefined) return { slot: taken, heldUntil };
  const otherMs = key === undefined ? holdMs : keyHoldMs;
  const other =
    otherMs > 0
      ? { otherSlot, otherUntil: now + otherMs }
      : { otherSlot: undefined, otherUntil: undefined };
  return { slot: taken, heldUntil, ...other };
}

/** Nothing is found under this any more. */
export function givenUp(record: OperationRecord, slot: string): RecordChanges {
  return record.slot === slot
    ? { slot: undefined, heldUntil: undefined }
    : { otherSlot: undefined, otherUntil: undefined };
}

export function holds({ slot, otherSlot }: OperationRecord, wanted: string): boolean {
  return slot === wanted || otherSlot === wanted;
}

/** Whether the time that it holds this slot for has run out. */
export function isFreeAgain(record: OperationRecord, slot: string, now: number): boolean {
  return isOver(record.slot === slot ? record.heldUntil : record.otherUntil, now);
}

import { keyGivenTo } from '../../operation.js';
import { view, type OperationRecord } from '../record.js';
import type { Script } from '../script.js';
import { isInFlight, isSettled } from '../states.js';
import type { Act, ClaimRequest, ClaimResult } from '../store.js';
import type { Tables } from '../tables.js';
import { isFreeAgain } from './places.js';

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
  const otherUntil = isSettled(record) ? now + request.keyHoldMs! : undefined;
  // After an edit that place has what was asked for, which is found by its content from now on.
  const asked = record.secondaryDedupKey !== undefined && {
    contentDedupKey: record.secondaryDedupKey,
    contentUntil: record.otherUntil,
  };
  return yield* operations.update(record, {
    key,
    secondaryDedupKey: keySlot,
    otherUntil,
    ...asked,
  });
}

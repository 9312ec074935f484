import { keyGivenTo } from '../../operation.js';
import {
  isInFlight,
  isExpired,
  isSettled,
  type OperationRecord,
  type RecordChanges,
  toOperation,
} from '../record.js';
import { answer, type Script } from '../script.js';
import type { Act, ClaimRequest, ClaimResult, HeldQuery, Settlement } from '../store.js';
import type { Tables } from '../tables.js';

type HoldTimes = Pick<Settlement, 'holdMs' | 'keyHoldMs' | 'content'>;

export const NO_HOLD: HoldTimes = { holdMs: 0 };

/** At settlement each dedup key of the operation is held for its own time, or released. Adds to `changes`. */
export function keysAfterSettlement(
  record: OperationRecord,
  now: number,
  hold: HoldTimes,
  changes: MutableChanges = {},
): RecordChanges {
  const { scopedKey, secondaryDedupKey, key, dedupKey } = record;
  const { holdMs, keyHoldMs = holdMs, content } = hold;
  const contentMs = content?.holdMs ?? holdMs;
  const ownMs = dedupKey.by === 'content' ? contentMs : holdMs;
  // Assigned one by one: this runs for every operation, and spreading costs more than the rest of it.
  changes.scopedKey = ownMs > 0 ? scopedKey : undefined;
  // Also without a key: `executedDuplicate` needs the time.
  changes.heldUntil = ownMs > 0 ? now + ownMs : undefined;
  if (secondaryDedupKey !== undefined) {
    const secondaryMs = key === undefined ? contentMs : keyHoldMs;
    changes.secondaryDedupKey = secondaryMs > 0 ? secondaryDedupKey : undefined;
    changes.secondaryUntil = secondaryMs > 0 ? now + secondaryMs : undefined;
  }
  if (content) changes.windowMs = content.windowMs;
  if (isFoundByContent(record)) {
    if (content) changes.contentUntil = now + content.holdMs;
    else changes.contentDedupKey = changes.editedDedupKey = undefined;
  }
  return changes;
}

export type MutableChanges = { -readonly [K in keyof RecordChanges]: RecordChanges[K] };

function isFoundByContent({ contentDedupKey, editedDedupKey }: OperationRecord): boolean {
  return contentDedupKey !== undefined || editedDedupKey !== undefined;
}

/** After its delivery an executed operation holds its content only for the window. */
export function keysAfterDelivery(record: OperationRecord, at: number): RecordChanges {
  const { windowMs = 0, deliveredAt, scopedKey, secondaryDedupKey, key, dedupKey } = record;
  const until = (before: number | undefined): number =>
    deliveredAt === undefined ? at + windowMs : Math.max(before ?? 0, at + windowMs);
  const changes: MutableChanges = { deliveredAt: Math.max(at, deliveredAt ?? 0) };
  if (scopedKey !== undefined && dedupKey.by === 'content')
    changes.heldUntil = until(record.heldUntil);
  if (secondaryDedupKey !== undefined && key === undefined)
    changes.secondaryUntil = until(record.secondaryUntil);
  if (isFoundByContent(record)) changes.contentUntil = until(record.contentUntil);
  return changes;
}

export function releaseKey(record: OperationRecord, scopedKey: string): RecordChanges {
  return record.scopedKey === scopedKey
    ? { scopedKey: undefined, heldUntil: undefined }
    : { secondaryDedupKey: undefined, secondaryUntil: undefined };
}

/**
 * A duplicate takes this key over. The record stays reachable by its content, or keeps the time of the
 * template's key: it answers again if the duplicate is compensated.
 */
function keysAfterDuplicate(record: OperationRecord, scopedKey: string): RecordChanges {
  const { dedupKey, windowMs } = record;
  if (dedupKey.by === 'template' && record.scopedKey === scopedKey) return { scopedKey: undefined };
  const isContent =
    dedupKey.by === 'content' && record.scopedKey === scopedKey && windowMs !== undefined;
  if (!isContent) return releaseKey(record, scopedKey);
  return {
    ...releaseKey(record, scopedKey),
    contentDedupKey: scopedKey,
    contentUntil: record.heldUntil,
  };
}

/** After compensation only an explicit key still replays the answer. */
export function releaseContent(record: OperationRecord): RecordChanges {
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

export function holdsKey(
  { scopedKey, secondaryDedupKey }: OperationRecord,
  wanted: string,
): boolean {
  return scopedKey === wanted || secondaryDedupKey === wanted;
}

/** Whether its hold of this key has ended. */
export function isHoldExpired(record: OperationRecord, scopedKey: string, now: number): boolean {
  if (record.scopedKey === scopedKey) return isExpired(record.heldUntil, now);
  return isExpired(
    record.secondaryDedupKey === scopedKey ? record.secondaryUntil : record.contentUntil,
    now,
  );
}

/** An operation with the content of a call, whatever their dedup keys. */
export interface ContentMatch {
  readonly record: OperationRecord;
  /** `conflict`: the explicit keys differ, and the operation may have been executed. */
  readonly kind: 'answers' | 'conflict';
}

/** The operations that answer a call by content or conflict with it, the best answer first. */
export function contentMatches(
  records: readonly OperationRecord[],
  call: Pick<Act, 'dedupKey' | 'key'>,
  content: string,
  now: number,
): readonly ContentMatch[] {
  return records
    .flatMap((record): readonly ContentMatch[] => {
      const kind = matchKind(record, call, content, now);
      return kind === undefined ? [] : [{ record, kind }];
    })
    .toSorted(
      (one, other) => rankOf(one) - rankOf(other) || other.record.createdAt - one.record.createdAt,
    );
}

function matchKind(
  record: OperationRecord,
  call: Pick<Act, 'dedupKey' | 'key'>,
  content: string,
  now: number,
): ContentMatch['kind'] | undefined {
  const settled = isSettled(record);
  // Of settled operations only executed ones are held by content.
  if (settled && (record.windowMs === undefined || isHoldExpired(record, content, now))) {
    return undefined;
  }
  if (!haveDifferentKeys(record, call)) return 'answers';
  const areTwoActs = settled
    ? record.deliveredAt !== undefined
    : isInFlight(record) || record.state === 'awaiting_approval';
  return areTwoActs ? undefined : 'conflict';
}

export function haveDifferentKeys(
  record: OperationRecord,
  call: Pick<Act, 'dedupKey' | 'key'>,
): boolean {
  const [one, other] = [keyGivenTo(keysOf(record)), keyGivenTo(call)];
  return one !== undefined && other !== undefined && one !== other;
}

export function keysOf({ dedupKey, key }: OperationRecord): Pick<Act, 'dedupKey' | 'key'> {
  return key === undefined ? { dedupKey } : { dedupKey, key };
}

/** In flight, then settled, then unknown, then awaiting approval; conflicts last. */
function rankOf({ record, kind }: ContentMatch): number {
  if (kind === 'conflict') return 4;
  if (isInFlight(record)) return 0;
  if (isSettled(record)) return 1;
  return record.state === 'awaiting_approval' ? 3 : 2;
}

/**
 * The operation that answers a call which is separate from some: its result was not delivered, or it has
 * none yet. Results come first, so that no unknown operation keeps one from its caller, then the oldest.
 */
export function answerBesides(
  records: readonly OperationRecord[],
  besides: readonly string[],
  content: string,
  now: number,
): OperationRecord | undefined {
  const apart = new Set(besides);
  const isOpen = (record: OperationRecord): boolean => {
    if (apart.has(record.id)) return false;
    if (!isSettled(record)) return true;
    // What was not executed is held by its dedup key only.
    const isHeld = record.windowMs !== undefined || holdsKey(record, content);
    return isHeld && !isHoldExpired(record, content, now);
  };
  const rank = (record: OperationRecord): number =>
    !isSettled(record) ? 1 : record.windowMs === undefined ? 2 : 0;
  const [first] = records
    .filter(isOpen)
    .toSorted((one, other) => rank(one) - rank(other) || one.createdAt - other.createdAt);
  return first;
}

/** The result of a claim that the match answers; undefined if the claim has to write first. */
export function resultOfMatch(
  { record, kind }: ContentMatch,
  request: ClaimRequest,
  now: number,
): ClaimResult | undefined {
  if (kind === 'conflict') return { kind: 'conflict', operation: toOperation(record, now) };
  if (isResumable(record) || shouldBindKey(record, request)) return undefined;
  return { kind: 'held', operation: toOperation(record, now) };
}

/** Whether it stopped between steps and a caller can continue it. */
export function isResumable({ state, owner }: OperationRecord): boolean {
  return state === 'claimed' && owner === undefined;
}

/** Whether the caller's explicit key is to be bound to the operation, so that a repeat with it replays. */
export function shouldBindKey(record: OperationRecord, request: ClaimRequest): boolean {
  return (
    request.keyHoldMs !== undefined &&
    record.argsHash === request.argsHash &&
    keyGivenTo(request) !== undefined &&
    keyGivenTo(keysOf(record)) === undefined
  );
}

export function* bindKey(
  { operations, now }: Tables,
  record: OperationRecord,
  request: ClaimRequest,
  explicitKey: string,
): Script<OperationRecord> {
  const key = keyGivenTo(request);
  const secondaryUntil = isSettled(record) ? now + request.keyHoldMs! : undefined;
  // After an edit the secondary key is that of the original content, which moves to the content key.
  const originalContent = record.secondaryDedupKey !== undefined && {
    contentDedupKey: record.secondaryDedupKey,
    contentUntil: record.secondaryUntil,
  };
  return yield* operations.update(record, {
    key,
    secondaryDedupKey: explicitKey,
    secondaryUntil,
    ...originalContent,
  });
}

/**
 * An intended duplicate takes the dedup key over from the settled holder when it succeeds, so that a
 * repeat replays the latest result. A failed duplicate leaves the key with the first operation.
 */
export function takeDedupKey(
  tables: Tables,
  operation: OperationRecord,
  scopedKeyOf: (act: Act) => string,
): Script<OperationRecord> {
  const { scopedKey, dedupKey } = operation;
  if (scopedKey !== undefined || dedupKey.by === 'key') return answer(operation);
  return takeFromHolder(tables, operation, scopedKeyOf);
}

function* takeFromHolder(
  tables: Tables,
  operation: OperationRecord,
  scopedKeyOf: (act: Act) => string,
): Script<OperationRecord> {
  const { account, tool, dedupKey } = operation;
  const scopedKey = scopedKeyOf({ account, tool, dedupKey });
  const holder = yield* tables.operations.holder(scopedKey);
  if (holder !== undefined && !isSettled(holder)) return operation;
  if (holder !== undefined)
    yield* tables.operations.update(holder, keysAfterDuplicate(holder, scopedKey));
  return { ...operation, scopedKey };
}

/**
 * An operation that was executed under the template's key while another one held it: an intended
 * duplicate, or the operation that was repeated. It answers calls once the other one has released the key.
 */
export function* executedDuplicate(
  { operations, now }: Tables,
  { account, tool, dedupKey, effect }: HeldQuery,
): Script<OperationRecord | undefined> {
  if (effect !== 'once' || dedupKey.by !== 'template') return undefined;
  const duplicates = yield* operations.list({ account, tool, dedupKey, withoutDedupKey: true });
  return duplicates.find(
    (other) =>
      other.damaged === undefined &&
      isSettled(other) &&
      other.windowMs !== undefined &&
      // A key that was released has no time.
      other.heldUntil !== undefined &&
      !isExpired(other.heldUntil, now),
  );
}

import { JournalError } from '../../error.js';
import { isInFlight, isSettled, type OperationRecord, view } from '../record.js';
import type { Script } from '../script.js';
import type { Act, ClaimRequest, ClaimResult, HeldQuery } from '../store.js';
import type { Tables } from '../tables.js';
import { changeHands, lapse } from './ownership.js';
import {
  answerOf,
  bindKey,
  bindsKey,
  canGoOn,
  doneBeside,
  type Equal,
  equalsFor,
  givenUp,
  holds,
  isFreeAgain,
} from './dedup-keys.js';

/** Where a call looks for the operation that it may be a repeat of. */
export interface Places {
  readonly scopedKey: string;
  /** Of the caller's key, where something else names the act. */
  readonly keySlot: string | undefined;
  /** Of its content, where operations of other names answer the call as well. */
  readonly content: string | undefined;
  /** The same, where only others are to find it: a repeat that is meant, too, is an act. */
  readonly found: string | undefined;
}

export function claimKeys(act: HeldQuery, scopedDedupKey: (act: Act) => string): Places {
  const { account, tool, key, dedupKey, effect, content } = act;
  const scopedKey = scopedDedupKey(act);
  const keySlot =
    key === undefined
      ? undefined
      : scopedDedupKey({ account, tool, dedupKey: { by: 'key', value: key } });
  if (effect !== 'once' || content === undefined) {
    return { scopedKey, keySlot, content: undefined, found: undefined };
  }
  const found =
    dedupKey.by === 'content'
      ? scopedKey
      : scopedDedupKey({ account, tool, dedupKey: { by: 'content', value: content } });
  return { scopedKey, keySlot, content: act.allowDuplicate ? undefined : found, found };
}

/** One of them, with how it is looked at. */
interface Place {
  readonly scopedKey: string;
  /** A key stands for one set of arguments, and cannot be repeated on purpose. */
  readonly isKey: boolean;
}

/** A key stands for its own answer, whatever else names the act, so it comes first. */
function placesIn({ dedupKey }: Act, { scopedKey, keySlot }: Places): readonly Place[] {
  const own = { scopedKey, isKey: dedupKey.by === 'key' };
  return keySlot === undefined ? [own] : [{ scopedKey: keySlot, isKey: true }, own];
}

/** Operations with the same content, where these count. */
function* withContent(
  { operations }: Tables,
  { content }: Places,
): Script<readonly OperationRecord[]> {
  return content === undefined ? [] : yield* operations.withContent(content);
}

const NONE_EQUAL: readonly Equal[] = [];

/** Those of them that have none of the call's own names. */
function othersAmong(
  tables: Tables,
  records: readonly OperationRecord[],
  act: Act,
  places: Places,
): readonly Equal[] {
  const { content } = places;
  if (content === undefined || records.length === 0) return NONE_EQUAL;
  const own = placesIn(act, places);
  const others = records.filter((record) => !own.some(({ scopedKey }) => holds(record, scopedKey)));
  return equalsFor(others, act, content, tables.now);
}

/**
 * What can be answered without writing: an operation that settled and is replayed, or one that is
 * not to be had now. Otherwise `claim` has to decide, and may begin with the hope that it is `free`.
 */
export function* find(
  tables: Tables,
  request: ClaimRequest,
  places: Places,
): Script<ClaimResult | 'free' | 'undecided'> {
  const equal = yield* withContent(tables, places);
  let isFree = equal.length === 0;
  for (const place of placesIn(request, places)) {
    const holder =
      place.scopedKey === places.content
        ? equal.find((record) => holds(record, place.scopedKey))
        : yield* tables.operations.holder(place.scopedKey);
    if (holder === undefined) {
      const beside = repeats(request, place) ? undefined : yield* doneBeside(tables, request);
      if (beside && !place.isKey) return { kind: 'held', operation: view(beside, tables.now) };
      continue;
    }
    if (yield* isAbandoned(tables, holder)) return 'undecided';
    const held = standing(tables, holder, request, place);
    if (held !== undefined) return held;
    // To be gone on with: what the act's other name says does not matter then.
    if (!isSettled(holder) && !repeats(request, place)) return 'undecided';
    isFree = false;
  }
  if (equal.length > 0) {
    for (const record of equal) if (yield* isAbandoned(tables, record)) return 'undecided';
    const [first] = othersAmong(tables, equal, request, places);
    if (first) return answerOf(first, request, tables.now) ?? 'undecided';
  }
  return isFree ? 'free' : 'undecided';
}

/** Whether an operation would answer a claim, its owner dead or alive. */
export function* isHeld(tables: Tables, act: HeldQuery, places: Places): Script<boolean> {
  for (const place of placesIn(act, places)) {
    if (act.allowDuplicate && !place.isKey) continue;
    const holder = yield* tables.operations.holder(place.scopedKey);
    if (holder === undefined) continue;
    if (!isSettled(holder) || !isFreeAgain(holder, place.scopedKey, tables.now)) return true;
  }
  const equal = yield* withContent(tables, places);
  return othersAmong(tables, equal, act, places).length > 0;
}

export function* claim(
  tables: Tables,
  request: ClaimRequest,
  places: Places,
  isProbablyFree = false,
): Script<ClaimResult> {
  const { operations, owners, now } = tables;
  const { scopedKey, keySlot, content } = places;
  if (isProbablyFree) {
    const record = begun(request, places, scopedKey, now);
    if (yield* operations.insertIfFree(record, content)) return fresh(record, now);
  }
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    // Most are met by nobody, and that is quickly seen.
    const isNew =
      keySlot === undefined &&
      content === undefined &&
      (yield* operations.holder(scopedKey)) === undefined;
    const seen = isNew ? 'free' : yield* find(tables, request, places);
    if (typeof seen === 'object') return seen;
    // Only now does the caller become an owner. A replay is for anybody.
    if (!(yield* owners.alive(request.owner))) throw lapsedOwner(request.owner);
    let own: string | undefined = scopedKey;
    if (seen === 'undecided') {
      for (const place of placesIn(request, places)) {
        const left = yield* vacate(tables, request, place);
        if (typeof left === 'object') return left;
        if (left === 'beside') own = undefined;
      }
      const met = yield* meetEqual(tables, request, places);
      if (met !== undefined) return met;
      const beside = request.allowDuplicate ? undefined : yield* doneBeside(tables, request);
      if (beside) return { kind: 'held', operation: view(beside, now) };
    }
    const record = begun(request, places, own, now);
    if (yield* operations.insert(record)) return fresh(record, now);
  }
  throw new JournalError(
    'unavailable',
    `${request.id} cannot be claimed: others always come first.`,
  );
}

/** The answer of an operation with the same content and another name, if there is one. */
function* meetEqual(
  tables: Tables,
  request: ClaimRequest,
  places: Places,
): Script<ClaimResult | undefined> {
  for (const record of yield* withContent(tables, places)) {
    if (yield* isAbandoned(tables, record)) yield* lapse(tables, record);
  }
  const equal = yield* withContent(tables, places);
  const [first] = othersAmong(tables, equal, request, places);
  if (first === undefined) return undefined;
  const answered = answerOf(first, request, tables.now);
  if (answered) return answered;
  const bound = bindsKey(first.record, request)
    ? yield* bindKey(tables, first.record, request, places.keySlot ?? places.scopedKey)
    : first.record;
  if (canGoOn(bound)) return yield* resume(tables, bound, request.owner);
  return { kind: 'held', operation: view(bound, tables.now) };
}

/** Each is one that somebody else was quicker in. */
const MOST_ROUNDS = 1000;

/** Makes a place free, or says who has it. `beside`: it stays with somebody, and a repeat is meant. */
function* vacate(
  tables: Tables,
  request: ClaimRequest,
  place: Place,
): Script<ClaimResult | 'free' | 'beside'> {
  const { operations } = tables;
  const found = yield* operations.holder(place.scopedKey);
  if (found === undefined) return 'free';
  const holder = (yield* isAbandoned(tables, found)) ? yield* lapse(tables, found) : found;
  if (!holds(holder, place.scopedKey)) return 'free';
  const held = standing(tables, holder, request, place);
  if (held !== undefined) return held;
  if (isSettled(holder) && isFreeAgain(holder, place.scopedKey, tables.now)) {
    yield* operations.update(holder, givenUp(holder, place.scopedKey));
    return 'free';
  }
  // It keeps its place until the repeat is done as well: that may come to nothing.
  if (repeats(request, place)) return 'beside';
  return yield* resume(tables, holder, request.owner);
}

function fresh(record: OperationRecord, now: number): ClaimResult {
  return { kind: 'mine', operation: view(record, now), resumed: false };
}

function* isAbandoned({ owners }: Tables, record: OperationRecord): Script<boolean> {
  return isInFlight(record) && !(yield* owners.alive(record.owner!));
}

/** What the caller gets to see, where he cannot have the place. */
function standing(
  { now }: Tables,
  holder: OperationRecord,
  request: ClaimRequest,
  place: Place,
): ClaimResult | undefined {
  if (repeats(request, place)) return undefined;
  const isFree = isSettled(holder)
    ? isFreeAgain(holder, place.scopedKey, now)
    : canResume(holder, request, place);
  return isFree ? undefined : { kind: 'held', operation: view(holder, now) };
}

/**
 * Somebody stopped half way: what he did is kept, and the next one goes on. A key stands for one set
 * of arguments, and nobody goes on with other ones.
 */
function canResume(holder: OperationRecord, { argsHash }: ClaimRequest, { isKey }: Place): boolean {
  if (isKey && argsHash !== holder.argsHash) return false;
  return holder.state === 'claimed' && holder.owner === undefined;
}

function* resume(tables: Tables, holder: OperationRecord, owner: string): Script<ClaimResult> {
  const operation = yield* changeHands(tables, holder, owner);
  return { kind: 'mine', operation, resumed: operation.steps.length > 0 };
}

function repeats({ allowDuplicate }: ClaimRequest, { isKey }: Place): boolean {
  return allowDuplicate && !isKey;
}

/** Never changed, only replaced. */
const NO_STEPS: OperationRecord['steps'] = [];

function begun(
  request: ClaimRequest,
  { keySlot, found }: Places,
  scopedKey: string | undefined,
  now: number,
): OperationRecord {
  return {
    id: request.id,
    account: request.account,
    tool: request.tool,
    effect: request.effect,
    dedupKey: request.dedupKey,
    key: request.key,
    argsHash: request.argsHash,
    args: request.args,
    state: 'claimed',
    outcome: undefined,
    fence: 1,
    owner: request.owner,
    correlationId: request.correlationId,
    createdAt: now,
    sendingAt: undefined,
    settledAt: undefined,
    heldUntil: undefined,
    answer: undefined,
    code: undefined,
    steps: NO_STEPS,
    approval: undefined,
    scopedKey,
    secondaryDedupKey: keySlot,
    secondaryUntil: undefined,
    contentDedupKey: found === scopedKey ? undefined : found,
    editedDedupKey: undefined,
    contentUntil: undefined,
    windowMs: undefined,
    deliveredAt: undefined,
    sends: 0,
    notBefore: undefined,
  };
}

function lapsedOwner(owner: string): JournalError {
  return new JournalError(
    'lapsed',
    `The lease of ${owner} is over, so it can claim nothing. Enlist again, then repeat the call.`,
  );
}

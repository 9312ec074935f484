import { JournalError } from '../../error.js';
import { view, type OperationRecord } from '../record.js';
import type { Script } from '../script.js';
import { isInFlight, isSettled } from '../states.js';
import type { Act, ClaimRequest, ClaimResult } from '../store.js';
import type { Tables } from '../tables.js';
import { lapse } from './lapse.js';
import { givenUp, holds, isFreeAgain } from './places.js';
import { changeHands } from './take-over.js';

/** Where a call looks for the operation that it may be a repeat of. */
export interface Places {
  readonly slot: string;
  /** Of the caller's key, where something else names the act. */
  readonly keySlot: string | undefined;
}

/** One of them, with how it is looked at. */
interface Place {
  readonly slot: string;
  /** A key stands for one set of arguments, and cannot be repeated on purpose. */
  readonly isKey: boolean;
}

/** A key stands for its own answer, whatever else names the act, so it comes first. */
function placesIn({ identity }: Act, { slot, keySlot }: Places): readonly Place[] {
  const own = { slot, isKey: identity.by === 'key' };
  return keySlot === undefined ? [own] : [{ slot: keySlot, isKey: true }, own];
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
  let isFree = true;
  for (const place of placesIn(request, places)) {
    const holder = yield* tables.operations.holder(place.slot);
    if (holder === undefined) continue;
    if (yield* isAbandoned(tables, holder)) return 'undecided';
    const held = standing(tables, holder, request, place);
    if (held !== undefined) return held;
    // To be gone on with: what the act's other name says does not matter then.
    if (!isSettled(holder) && !repeats(request, place)) return 'undecided';
    isFree = false;
  }
  return isFree ? 'free' : 'undecided';
}

/** Whether somebody has one of them whom a claim would meet, dead or alive. */
export function* isHeld(
  tables: Tables,
  act: Act & Pick<ClaimRequest, 'allowDuplicate'>,
  places: Places,
): Script<boolean> {
  for (const place of placesIn(act, places)) {
    if (act.allowDuplicate && !place.isKey) continue;
    const holder = yield* tables.operations.holder(place.slot);
    if (holder === undefined) continue;
    if (!isSettled(holder) || !isFreeAgain(holder, place.slot, tables.now)) return true;
  }
  return false;
}

export function* claim(
  tables: Tables,
  request: ClaimRequest,
  places: Places,
  isProbablyFree = false,
): Script<ClaimResult> {
  const { operations, owners, now } = tables;
  const { slot, keySlot } = places;
  if (isProbablyFree && (yield* owners.alive(request.owner))) {
    const record = begun(request, slot, keySlot, now);
    if (yield* operations.insert(record)) return fresh(record, now);
  }
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    // Most are met by nobody, and that is quickly seen.
    const isNew = keySlot === undefined && (yield* operations.holder(slot)) === undefined;
    const seen = isNew ? 'free' : yield* find(tables, request, places);
    if (typeof seen === 'object') return seen;
    // Only now does the caller become an owner. A replay is for anybody.
    if (!(yield* owners.alive(request.owner))) throw lapsedOwner(request.owner);
    let own: string | undefined = slot;
    if (seen === 'undecided') {
      for (const place of placesIn(request, places)) {
        const left = yield* vacate(tables, request, place);
        if (typeof left === 'object') return left;
        if (left === 'beside') own = undefined;
      }
    }
    const record = begun(request, own, keySlot, now);
    if (yield* operations.insert(record)) return fresh(record, now);
  }
  throw new JournalError(
    'unavailable',
    `${request.id} cannot be claimed: others always come first.`,
  );
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
  const found = yield* operations.holder(place.slot);
  if (found === undefined) return 'free';
  const holder = (yield* isAbandoned(tables, found)) ? yield* lapse(tables, found) : found;
  if (!holds(holder, place.slot)) return 'free';
  const held = standing(tables, holder, request, place);
  if (held !== undefined) return held;
  if (isSettled(holder) && isFreeAgain(holder, place.slot, tables.now)) {
    yield* operations.update(holder, givenUp(holder, place.slot));
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
    ? isFreeAgain(holder, place.slot, now)
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
  slot: string | undefined,
  otherSlot: string | undefined,
  now: number,
): OperationRecord {
  return {
    id: request.id,
    account: request.account,
    tool: request.tool,
    effect: request.effect,
    identity: request.identity,
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
    slot,
    otherSlot,
    otherUntil: undefined,
    sends: 0,
    restsUntil: undefined,
  };
}

function lapsedOwner(owner: string): JournalError {
  return new JournalError(
    'lapsed',
    `The lease of ${owner} is over, so it can claim nothing. Enlist again, then repeat the call.`,
  );
}

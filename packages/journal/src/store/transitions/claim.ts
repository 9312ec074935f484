import { JournalError } from '../../error.js';
import { isOver, view, type OperationRecord } from '../record.js';
import type { Script } from '../script.js';
import { isInFlight, isSettled } from '../states.js';
import type { ClaimRequest, ClaimResult } from '../store.js';
import type { Tables } from '../tables.js';
import { lapse } from './lapse.js';
import { changeHands } from './take-over.js';

/**
 * What can be answered without writing: an operation that settled and is replayed, or one that is
 * not to be had now. Otherwise `claim` has to decide, and may begin with the hope that it is `free`.
 */
export function* find(
  tables: Tables,
  request: ClaimRequest,
  slot: string,
): Script<ClaimResult | 'free' | 'undecided'> {
  const holder = yield* tables.operations.holder(slot);
  if (holder === undefined) return 'free';
  if (yield* isAbandoned(tables, holder)) return 'undecided';
  return standing(tables, holder, request) ?? 'undecided';
}

export function* claim(
  tables: Tables,
  request: ClaimRequest,
  slot: string,
  isProbablyFree = false,
): Script<ClaimResult> {
  const { operations, owners, now } = tables;
  if (isProbablyFree && (yield* owners.alive(request.owner))) {
    const record = begun(request, slot, now);
    if (yield* operations.insert(record)) return fresh(record, now);
  }
  for (;;) {
    const found = yield* operations.holder(slot);
    const isFallen = found !== undefined && (yield* isAbandoned(tables, found));
    const held = found && !isFallen ? standing(tables, found, request) : undefined;
    if (held !== undefined) return held;

    // Only now does the caller become an owner. A replay is for anybody.
    if (!(yield* owners.alive(request.owner))) throw lapsedOwner(request.owner);
    const holder = isFallen ? yield* lapse(tables, found) : found;
    let free: string | undefined = slot;
    if (holder?.slot !== undefined) {
      const left = standing(tables, holder, request);
      if (left !== undefined) return left;
      if (isSettled(holder))
        yield* operations.update(holder, { slot: undefined, heldUntil: undefined });
      else if (repeats(request)) free = undefined;
      else return yield* resume(tables, holder, request.owner);
    }
    const record = begun(request, free, now);
    if (yield* operations.insert(record)) return fresh(record, now);
  }
}

function fresh(record: OperationRecord, now: number): ClaimResult {
  return { kind: 'mine', operation: view(record, now), resumed: false };
}

function* isAbandoned({ owners }: Tables, record: OperationRecord): Script<boolean> {
  return isInFlight(record) && !(yield* owners.alive(record.owner!));
}

/** What the caller gets to see, where he cannot have the slot. */
function standing(
  { now }: Tables,
  holder: OperationRecord,
  request: ClaimRequest,
): ClaimResult | undefined {
  if (repeats(request)) return undefined;
  const isFree = isSettled(holder) ? isOver(holder, now) : canResume(holder, request);
  return isFree ? undefined : { kind: 'held', operation: view(holder, now) };
}

/**
 * Somebody stopped half way: what he did is kept, and the next one goes on. A key stands for one set
 * of arguments, and nobody goes on with other ones.
 */
function canResume(holder: OperationRecord, { identity, argsHash }: ClaimRequest): boolean {
  if (identity.by === 'key' && argsHash !== holder.argsHash) return false;
  return holder.state === 'claimed' && holder.owner === undefined;
}

function* resume(tables: Tables, holder: OperationRecord, owner: string): Script<ClaimResult> {
  const operation = yield* changeHands(tables, holder, owner);
  return { kind: 'mine', operation, resumed: operation.steps.length > 0 };
}

function repeats({ allowDuplicate, identity }: ClaimRequest): boolean {
  return allowDuplicate && identity.by !== 'key';
}

function begun(request: ClaimRequest, slot: string | undefined, now: number): OperationRecord {
  return {
    id: request.id,
    account: request.account,
    tool: request.tool,
    effect: request.effect,
    identity: request.identity,
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
    steps: [],
    approval: undefined,
    slot,
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

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
 * not to be had now. Undefined: `claim` has to decide.
 */
export function* find(tables: Tables, request: ClaimRequest): Script<ClaimResult | undefined> {
  const slot = tables.slotOf(request.account, request.tool, request.identity);
  const holder = yield* tables.operations.holder(slot);
  if (holder === undefined || repeats(request)) return undefined;
  if (isSettled(holder)) return isOver(holder, tables.now) ? undefined : held(tables, holder);
  if (isInFlight(holder)) {
    return (yield* tables.owners.alive(holder.owner!)) ? held(tables, holder) : undefined;
  }
  return canResume(holder, request) ? undefined : held(tables, holder);
}

export function* claim(tables: Tables, request: ClaimRequest): Script<ClaimResult> {
  const slot = tables.slotOf(request.account, request.tool, request.identity);
  if (!(yield* tables.owners.alive(request.owner))) throw lapsedOwner(request.owner);
  for (;;) {
    const found = yield* tables.operations.holder(slot);
    const holder = found && (yield* lapseIfAbandoned(tables, found));
    let free: string | undefined = slot;
    if (holder?.slot !== undefined) {
      if (isSettled(holder)) {
        if (!isOver(holder, tables.now) && !repeats(request)) return held(tables, holder);
        yield* tables.operations.update(holder, { slot: undefined, heldUntil: undefined });
      } else if (repeats(request)) {
        free = undefined;
      } else {
        if (!canResume(holder, request)) return held(tables, holder);
        return yield* resume(tables, holder, request.owner);
      }
    }
    const record = begun(request, free, tables.now);
    if (yield* tables.operations.insert(record)) {
      return { kind: 'mine', operation: view(record, tables.now), resumed: false };
    }
  }
}

function* lapseIfAbandoned(tables: Tables, record: OperationRecord): Script<OperationRecord> {
  if (!isInFlight(record) || (yield* tables.owners.alive(record.owner!))) return record;
  return yield* lapse(tables, record);
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

function held(tables: Tables, record: OperationRecord): ClaimResult {
  return { kind: 'held', operation: view(record, tables.now) };
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

import type { OperationState, Step } from '../../operation.js';
import {
  auditEntry,
  isHalfDone,
  isHeldBy,
  isSettled,
  type OperationRecord,
  type RecordChanges,
} from '../record.js';
import type { Script } from '../script.js';
import type { Act, Delivery, FencingToken, Settlement, Verdict } from '../store.js';
import type { Tables } from '../tables.js';
import { asLastDone, delivered, held, NOT_AT_ALL, withoutContent } from './dedup-keys.js';

export function* settle(
  tables: Tables,
  fencingToken: FencingToken,
  settlement: Settlement,
  placeOf: (act: Act) => string,
): Script<boolean> {
  const operation = yield* tables.operations.get(fencingToken.id);
  if (!isHeldBy(operation, fencingToken) || isSettled(operation)) return false;
  if (settlement.state === 'awaiting_approval' && !isApproved(operation)) return false;

  if (settlement.discard === true && isUntouched(operation)) {
    yield* tables.operations.remove(operation);
    return true;
  }
  const { state: end } = settlement;
  const placed = end === 'succeeded' ? yield* asLastDone(tables, operation, placeOf) : operation;
  const after = yield* tables.operations.update(operation, ended(placed, settlement, tables.now));
  if (after.state === 'unknown') yield* tables.notifications.add('operation_unknown', after.id);
  if (settlement.refund === true) yield* tables.limits.remove(operation.id, operation.sends);
  if (settlement.releases !== undefined)
    yield* freeAll(tables, settlement.releases, fencingToken.owner);

  const { state, outcome, code, fence } = after;
  const { reason } = settlement;
  const detail = { state, outcome, code, reason, fence };
  yield* tables.audit.append(auditEntry('settled', after, fencingToken.owner, detail));
  return true;
}

function isUntouched({ state, sends, steps, approval }: OperationRecord): boolean {
  return state === 'claimed' && sends === 0 && steps.length === 0 && approval === undefined;
}

function isApproved({ approval }: OperationRecord): boolean {
  return approval?.decision === 'approved';
}

function ended(operation: OperationRecord, settlement: Settlement, now: number): RecordChanges {
  const { answer, code, holdMs } = settlement;
  const state = stateAfter(operation, settlement);
  // Of half an operation none is true: what is said of its next step does not hold for the whole.
  const outcome = state === 'claimed' ? undefined : settlement.outcome;
  if (isSettled({ state })) {
    const places = held(operation, now, settlement.state === 'released' ? NOT_AT_ALL : settlement);
    return { state, outcome, answer, code, owner: undefined, settledAt: now, ...places };
  }
  const said = { state, outcome, answer, code };
  if (settlement.stillRunning === true) return said;
  const notBefore = state === 'awaiting_approval' ? now + holdMs : undefined;
  return { ...said, owner: undefined, steps: given(operation), notBefore };
}

/** Its lease had lapsed, or its call's time was over; but it came back and knows. */
function stateAfter(operation: OperationRecord, { state }: Settlement): OperationState {
  return operation.state === 'unknown' && isSettled({ state }) ? 'reconciled' : state;
}

/** Who settles a step that he sent himself sends it no more. Of another's step he knows nothing. */
function given({ steps, owner }: OperationRecord): readonly Step[] {
  return steps.map((step) => {
    if (step.owner !== owner) return step;
    const { owner: _, ...rest } = step;
    return rest;
  });
}

/** Always in the same order, so that two of us never wait for each other. */
export function* freeAll(tables: Tables, ids: readonly string[], actor: string): Script<void> {
  for (const id of ids.toSorted()) yield* free(tables, id, actor);
}

/** What was undone may be done again. An explicit key still stands for its answer. */
function* free(tables: Tables, id: string, actor: string): Script<void> {
  const undone = yield* tables.operations.get(id);
  if (undone === undefined) return;
  if (isHalfDone(undone) && undone.dedupKey.by === 'key') {
    // Its key still stands for what was begun: only calls of other names begin anew.
    yield* tables.operations.update(undone, {
      contentDedupKey: undefined,
      editedDedupKey: undefined,
    });
    return;
  }
  if (isHalfDone(undone)) {
    // Nor does its key find it: going on would do what was begun again by then.
    const over = held(undone, tables.now, NOT_AT_ALL);
    const after = yield* tables.operations.update(undone, {
      state: 'released',
      settledAt: tables.now,
      ...over,
    });
    yield* tables.audit.append(auditEntry('released', after, actor, { reason: 'undone' }));
    return;
  }
  if (isSettled(undone)) yield* tables.operations.update(undone, withoutContent(undone));
}

/** Somebody found out, or a person decided: also about one that stopped half way and has no owner. */
export function* reconcile(
  tables: Tables,
  id: string,
  verdict: Verdict,
  placeOf: (act: Act) => string,
): Script<boolean> {
  const operation = yield* tables.operations.get(id);
  const waits = operation?.state === 'claimed' && operation.owner === undefined;
  if (operation === undefined || (operation.state !== 'unknown' && !waits)) return false;

  const { outcome, answer, code, by, reason, evidence } = verdict;
  const isExecuted = outcome === 'executed';
  const placed = isExecuted ? yield* asLastDone(tables, operation, placeOf) : operation;
  const after = yield* tables.operations.update(operation, {
    state: 'reconciled',
    outcome,
    answer,
    code,
    owner: undefined,
    fence: operation.fence + 1,
    settledAt: tables.now,
    ...held(placed, tables.now, isExecuted ? verdict : NOT_AT_ALL),
  });
  if (verdict.releases !== undefined) yield* freeAll(tables, verdict.releases, by);
  yield* tables.audit.append(
    auditEntry('reconciled', after, by, { outcome, code, reason, evidence }),
  );
  return true;
}

export function* markDelivered(tables: Tables, deliveries: readonly Delivery[]): Script<void> {
  const { operations, now } = tables;
  // An operation that was delivered several times counts from the last of them.
  const agoMs = new Map<string, number>();
  for (const each of deliveries) {
    agoMs.set(each.id, Math.min(each.agoMs, agoMs.get(each.id) ?? Infinity));
  }
  for (const operation of yield* operations.getAll([...agoMs.keys()])) {
    if (operation.windowMs === undefined || !isSettled(operation)) continue;
    yield* operations.update(operation, delivered(operation, now - agoMs.get(operation.id)!));
  }
}

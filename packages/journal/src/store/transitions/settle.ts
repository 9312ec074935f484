import type { OperationState, Step } from '../../operation.js';
import type { OperationRecord, RecordChanges } from '../record.js';
import type { Script } from '../script.js';
import { isHalfDone, isHeldBy, isSettled } from '../states.js';
import type { Act, FencingToken, Settlement } from '../store.js';
import type { Tables } from '../tables.js';
import { record as entry } from './audit-entry.js';
import { asLastDone } from './last-done.js';
import { held, NOT_AT_ALL, withoutContent } from './places.js';

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
  if (after.state === 'unknown') yield* tables.notices.add('operation_unknown', after.id);
  if (settlement.refund === true) yield* tables.limits.remove(operation.id, operation.sends);
  if (settlement.releases !== undefined)
    yield* freeAll(tables, settlement.releases, fencingToken.owner);

  const { state, outcome, code, fence } = after;
  const { reason } = settlement;
  const detail = { state, outcome, code, reason, fence };
  yield* tables.audit.append(entry('settled', after, fencingToken.owner, detail));
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
  const restsUntil = state === 'awaiting_approval' ? now + holdMs : undefined;
  return { ...said, owner: undefined, steps: given(operation), restsUntil };
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
    yield* tables.audit.append(entry('released', after, actor, { reason: 'undone' }));
    return;
  }
  if (isSettled(undone)) yield* tables.operations.update(undone, withoutContent(undone));
}

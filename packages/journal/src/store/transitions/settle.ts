import type { Step } from '../../operation.js';
import type { OperationRecord, RecordChanges } from '../record.js';
import type { Script } from '../script.js';
import { isHeldBy, isSettled } from '../states.js';
import type { Grip, Settlement } from '../store.js';
import type { Tables } from '../tables.js';
import { record as entry } from './audit-entry.js';

export function* settle(tables: Tables, grip: Grip, settlement: Settlement): Script<boolean> {
  const operation = yield* tables.operations.get(grip.id);
  if (!isHeldBy(operation, grip) || isSettled(operation)) return false;

  const after = yield* tables.operations.update(operation, {
    ...ended(operation, settlement, tables.now),
    outcome: settlement.outcome,
    answer: settlement.answer,
    code: settlement.code,
    owner: settlement.stillRunning ? operation.owner : undefined,
  });
  if (after.state === 'unknown') yield* tables.notices.add('operation_unknown', after.id);
  if (settlement.refund === true) yield* tables.limits.remove(operation.id, operation.sends);
  for (const id of [...(settlement.frees ?? [])].toSorted()) yield* free(tables, id);

  const { state, outcome, code } = after;
  yield* tables.audit.append(entry('settled', after, grip.owner, { state, outcome, code }));
  return true;
}

function ended(operation: OperationRecord, settlement: Settlement, now: number): RecordChanges {
  const { state, holdMs } = settlement;
  if (state === 'unknown') {
    return settlement.stillRunning ? { state } : { state, steps: given(operation.steps, operation.owner) };
  }
  if (state === 'awaiting_approval') {
    return { state, restsUntil: now + holdMs } as RecordChanges;
  }
  if (state === 'claimed') {
    // Approved, taken, and given back before anything was done: it waits for the next to take it.
    const approved = operation.approval?.decision === 'approved' && operation.steps.length === 0;
    return { state: approved ? 'awaiting_approval' : 'claimed', steps: given(operation.steps, operation.owner) };
  }
  // Its lease had lapsed, but it came back and knows.
  const final = operation.state === 'unknown' ? 'reconciled' : state;
  const holds = state !== 'released' && holdMs > 0 && operation.slot !== undefined;
  return {
    state: final,
    settledAt: now,
    ...hold(holds ? operation.slot : undefined, now + holdMs),
  };
}

/** Who settles an open step himself sends it no more, and it is nobody's. */
function given(steps: readonly Step[], owner: string | undefined): readonly Step[] {
  return steps.map((step) => {
    if (step.owner !== owner) return step;
    const { owner: _, ...rest } = step;
    return rest;
  });
}

export function hold(slot: string | undefined, until: number): RecordChanges {
  return { slot, heldUntil: slot === undefined ? undefined : until };
}

/** What was undone may be done again. An explicit key still stands for its answer. */
function* free(tables: Tables, id: string): Script<void> {
  const undone = yield* tables.operations.get(id);
  if (undone === undefined || !isSettled(undone) || undone.identity.by === 'key') return;
  if (undone.slot !== undefined) yield* tables.operations.update(undone, hold(undefined, 0));
}

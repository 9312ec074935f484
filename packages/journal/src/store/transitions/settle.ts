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
import type { Act, Delivery, FencingToken, Settlement, Reconciliation } from '../store.js';
import type { Tables } from '../tables.js';
import {
  isResumable,
  takeDedupKey,
  keysAfterDelivery,
  keysAfterSettlement,
  NO_HOLD,
  releaseContent,
} from './dedup-keys.js';

export function* settle(
  tables: Tables,
  fencingToken: FencingToken,
  settlement: Settlement,
  scopedKeyOf: (act: Act) => string,
): Script<boolean> {
  const operation = yield* tables.operations.get(fencingToken.id);
  if (!isHeldBy(operation, fencingToken) || isSettled(operation)) return false;
  if (settlement.state === 'awaiting_approval' && !isApproved(operation)) return false;

  if (settlement.discard === true && isUntouched(operation)) {
    yield* tables.operations.remove(operation);
    return true;
  }
  const { state: end } = settlement;
  const withKey =
    end === 'succeeded' ? yield* takeDedupKey(tables, operation, scopedKeyOf) : operation;
  const after = yield* tables.operations.update(
    operation,
    settledChanges(withKey, settlement, tables.now),
  );
  if (after.state === 'unknown') yield* tables.notifications.add('operation_unknown', after.id);
  if (settlement.refund === true) yield* tables.limits.remove(operation.id, operation.sends);
  if (settlement.releases !== undefined)
    yield* releaseCompensated(tables, settlement.releases, fencingToken.owner);

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

function settledChanges(
  operation: OperationRecord,
  settlement: Settlement,
  now: number,
): RecordChanges {
  const { answer, code, holdMs } = settlement;
  const state = stateAfter(operation, settlement);
  // The outcome is that of the next step, not of the half-done operation.
  const outcome = state === 'claimed' ? undefined : settlement.outcome;
  if (isSettled({ state })) {
    const hold = settlement.state === 'released' ? NO_HOLD : settlement;
    const changes = { state, outcome, answer, code, owner: undefined, settledAt: now };
    return keysAfterSettlement(operation, now, hold, changes);
  }
  const result = { state, outcome, answer, code };
  if (settlement.stillRunning === true) return result;
  const notBefore = state === 'awaiting_approval' ? now + holdMs : undefined;
  return { ...result, owner: undefined, steps: withoutStepOwner(operation), notBefore };
}

/** A definite result for an operation that has become unknown reconciles it. */
function stateAfter(operation: OperationRecord, { state }: Settlement): OperationState {
  return operation.state === 'unknown' && isSettled({ state }) ? 'reconciled' : state;
}

/** An owner that settles will not send its open step again; steps of other senders keep their owner. */
function withoutStepOwner({ steps, owner }: OperationRecord): readonly Step[] {
  return steps.map((step) => {
    if (step.owner !== owner) return step;
    const { owner: _, ...rest } = step;
    return rest;
  });
}

/** Releases the dedup keys of compensated operations; in a fixed order, to avoid deadlocks. */
export function* releaseCompensated(
  tables: Tables,
  ids: readonly string[],
  actor: string,
): Script<void> {
  for (const id of ids.toSorted()) yield* releaseOne(tables, id, actor);
}

function* releaseOne(tables: Tables, id: string, actor: string): Script<void> {
  const compensated = yield* tables.operations.get(id);
  if (compensated === undefined) return;
  if (isHalfDone(compensated) && compensated.dedupKey.by === 'key') {
    // The explicit key still resumes it; calls with other keys start a new operation.
    yield* tables.operations.update(compensated, {
      contentDedupKey: undefined,
      editedDedupKey: undefined,
    });
    return;
  }
  if (isHalfDone(compensated)) {
    // Resuming it would repeat the compensated steps beside a new operation.
    const keys = keysAfterSettlement(compensated, tables.now, NO_HOLD);
    const after = yield* tables.operations.update(compensated, {
      state: 'released',
      settledAt: tables.now,
      ...keys,
    });
    yield* tables.audit.append(auditEntry('released', after, actor, { reason: 'undone' }));
    return;
  }
  if (isSettled(compensated))
    yield* tables.operations.update(compensated, releaseContent(compensated));
}

export function* reconcile(
  tables: Tables,
  id: string,
  reconciliation: Reconciliation,
  scopedKeyOf: (act: Act) => string,
): Script<boolean> {
  const operation = yield* tables.operations.get(id);
  if (operation === undefined) return false;
  if (operation.state !== 'unknown' && !isResumable(operation)) return false;

  const { outcome, answer, code, by, reason, evidence } = reconciliation;
  const isExecuted = outcome === 'executed';
  const withKey = isExecuted ? yield* takeDedupKey(tables, operation, scopedKeyOf) : operation;
  const after = yield* tables.operations.update(operation, {
    state: 'reconciled',
    outcome,
    answer,
    code,
    owner: undefined,
    fence: operation.fence + 1,
    settledAt: tables.now,
    ...keysAfterSettlement(withKey, tables.now, isExecuted ? reconciliation : NO_HOLD),
  });
  if (reconciliation.releases !== undefined)
    yield* releaseCompensated(tables, reconciliation.releases, by);
  yield* tables.audit.append(
    auditEntry('reconciled', after, by, { outcome, code, reason, evidence }),
  );
  return true;
}

export function* markDelivered(tables: Tables, deliveries: readonly Delivery[]): Script<void> {
  const { operations, now } = tables;
  // Several deliveries of one operation count as the last of them.
  const agoMs = new Map<string, number>();
  for (const each of deliveries) {
    agoMs.set(each.id, Math.min(each.agoMs, agoMs.get(each.id) ?? Infinity));
  }
  for (const operation of yield* operations.getAll([...agoMs.keys()])) {
    if (operation.windowMs === undefined || !isSettled(operation)) continue;
    yield* operations.update(
      operation,
      keysAfterDelivery(operation, now - agoMs.get(operation.id)!),
    );
  }
}

import type { Operation } from '../../operation.js';
import {
  auditEntry,
  isInFlight,
  openStep,
  type OperationRecord,
  type RecordChanges,
  toOperation,
} from '../record.js';
import type { Script } from '../script.js';
import type { Tables } from '../tables.js';
import { keysAfterSettlement, NO_HOLD } from './dedup-keys.js';

/** Takes an operation from an owner whose lease has ended. An operation that may have been sent is never sent again. */
export function* expireClaim(tables: Tables, operation: OperationRecord): Script<OperationRecord> {
  const { owner, state: from } = operation;
  const changes = changesOnExpiry(operation, tables.now);
  const after = yield* tables.operations.update(operation, changes);
  if (after.state === 'unknown') yield* tables.notifications.add('operation_unknown', after.id);
  yield* tables.audit.append(auditEntry('lapsed', after, owner!, { from, to: after.state }));
  return after;
}

function changesOnExpiry(operation: OperationRecord, now: number): RecordChanges {
  if (operation.state === 'sending') {
    // A repeat leads to the same end state, so the outcome does not need to be established.
    if (operation.effect === 'idempotent') return released(operation, 'unknown', now);
    // The owner is kept, so that a reconciler can check whether its process can still send.
    return { state: 'unknown', outcome: 'unknown' };
  }
  if (openStep(operation) !== undefined) {
    return { state: 'unknown', outcome: 'unknown', owner: undefined };
  }
  if (operation.steps.length > 0) return { owner: undefined };
  if (operation.approval?.decision === 'approved') {
    return { state: 'awaiting_approval', owner: undefined };
  }
  return released(operation, 'not_executed', now);
}

function released(
  operation: OperationRecord,
  outcome: 'unknown' | 'not_executed',
  now: number,
): RecordChanges {
  const keys = keysAfterSettlement(operation, now, NO_HOLD);
  return { state: 'released', outcome, owner: undefined, settledAt: now, ...keys };
}

export function* expireIfAbandoned(tables: Tables, id: string): Script<Operation | undefined> {
  const record = yield* tables.operations.get(id);
  if (record === undefined || !isInFlight(record)) return undefined;
  if (yield* tables.owners.alive(record.owner!)) return undefined;
  return toOperation(yield* expireClaim(tables, record), tables.now);
}

/** Takes all operations from an owner, whether or not its lease is live. */
export function* expireAllOf(tables: Tables, owner: string): Script<void> {
  for (;;) {
    // The table returns a limited batch; operations taken in this pass are not in the next one.
    const ids = yield* tables.operations.ownedBy(owner);
    if (ids.length === 0) return;
    for (const id of ids) {
      const record = yield* tables.operations.get(id);
      if (record !== undefined && isInFlight(record) && record.owner === owner) {
        yield* expireClaim(tables, record);
      }
    }
  }
}

export function* takeOver(
  tables: Tables,
  id: string,
  owner: string,
  fence: number,
): Script<Operation | undefined> {
  const operation = yield* tables.operations.get(id);
  if (operation?.state !== 'unknown' || openStep(operation) === undefined) return undefined;
  if (operation.fence !== fence || !(yield* tables.owners.alive(owner))) return undefined;
  return yield* transferTo(tables, operation, owner);
}

/** Increments the fence, which invalidates the former owner's token. An open step still names its sender. */
export function* transferTo(
  tables: Tables,
  operation: OperationRecord,
  owner: string,
): Script<Operation> {
  const after = yield* tables.operations.update(operation, {
    state: 'claimed',
    owner,
    fence: operation.fence + 1,
    outcome: undefined,
    notBefore: undefined,
  });
  return toOperation(after, tables.now);
}

import type { Operation } from '../../operation.js';
import {
  auditEntry,
  isInFlight,
  openStep,
  type OperationRecord,
  type RecordChanges,
  view,
} from '../record.js';
import type { Script } from '../script.js';
import type { Tables } from '../tables.js';
import { held, NOT_AT_ALL } from './dedup-keys.js';

/** Takes an operation from an owner who is gone. What he may have sent, nobody sends again. */
export function* lapse(tables: Tables, operation: OperationRecord): Script<OperationRecord> {
  const { owner, state: from } = operation;
  const changes = leftBehind(operation, tables.now);
  const after = yield* tables.operations.update(operation, changes);
  if (after.state === 'unknown') yield* tables.notifications.add('operation_unknown', after.id);
  yield* tables.audit.append(auditEntry('lapsed', after, owner!, { from, to: after.state }));
  return after;
}

function leftBehind(operation: OperationRecord, now: number): RecordChanges {
  if (operation.state === 'sending') {
    // Repeating it gives the same end state, so nobody has to wait for the truth.
    if (operation.effect === 'idempotent') return released(operation, 'unknown', now);
    // The owner stays, for whoever wants to know whether he can still send.
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
  const places = held(operation, now, NOT_AT_ALL);
  return { state: 'released', outcome, owner: undefined, settledAt: now, ...places };
}

/** One at a time, so that no process holds up the others while it tidies. */
export function* lapseOne(tables: Tables, id: string): Script<Operation | undefined> {
  const record = yield* tables.operations.get(id);
  if (record === undefined || !isInFlight(record)) return undefined;
  if (yield* tables.owners.alive(record.owner!)) return undefined;
  return view(yield* lapse(tables, record), tables.now);
}

/** Everything that it owns, whether or not its lease still lives. */
export function* lapseAll(tables: Tables, owner: string): Script<void> {
  for (;;) {
    // They come in batches, and what lapsed is not among the next.
    const ids = yield* tables.operations.ownedBy(owner);
    if (ids.length === 0) return;
    for (const id of ids) {
      const record = yield* tables.operations.get(id);
      if (record !== undefined && isInFlight(record) && record.owner === owner) {
        yield* lapse(tables, record);
      }
    }
  }
}

/** For whoever found out how the open step ended; until then it stays with the one who sent it. */
export function* takeOver(
  tables: Tables,
  id: string,
  owner: string,
  fence: number,
): Script<Operation | undefined> {
  const operation = yield* tables.operations.get(id);
  if (operation?.state !== 'unknown' || openStep(operation) === undefined) return undefined;
  if (operation.fence !== fence || !(yield* tables.owners.alive(owner))) return undefined;
  return yield* changeHands(tables, operation, owner);
}

/** The former owner is recognised by his fence from now on. An open step still says who sent it. */
export function* changeHands(
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
  return view(after, tables.now);
}

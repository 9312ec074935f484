import type { Operation } from '../../operation.js';
import { view, type OperationRecord } from '../record.js';
import type { Script } from '../script.js';
import { openStep } from '../states.js';
import type { Tables } from '../tables.js';

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
    restsUntil: undefined,
  });
  return view(after, tables.now);
}

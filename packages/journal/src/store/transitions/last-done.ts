import type { OperationRecord } from '../record.js';
import type { Script } from '../script.js';
import { isSettled } from '../states.js';
import type { Act } from '../store.js';
import type { Tables } from '../tables.js';
import { givenUp } from './places.js';

/**
 * What was carried out beside another one, because a repeat was meant, stands for the act from then on:
 * whoever repeats it gets what was done last. Not before: of a repeat that came to nothing, nothing is
 * left, and the first one still stands.
 */
export function* asLastDone(
  tables: Tables,
  operation: OperationRecord,
  placeOf: (act: Act) => string,
): Script<OperationRecord> {
  const { account, tool, identity } = operation;
  if (operation.slot !== undefined || identity.by === 'key') return operation;
  const slot = placeOf({ account, tool, identity });
  const holder = yield* tables.operations.holder(slot);
  if (holder !== undefined && !isSettled(holder)) return operation;
  if (holder !== undefined) yield* tables.operations.update(holder, givenUp(holder, slot));
  return { ...operation, slot };
}

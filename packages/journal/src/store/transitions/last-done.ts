import { isOver, type OperationRecord } from '../record.js';
import type { Script } from '../script.js';
import { isSettled } from '../states.js';
import type { Act, HeldQuery } from '../store.js';
import type { Tables } from '../tables.js';
import { movedToContent } from './places.js';

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
  const { account, tool, dedupKey } = operation;
  if (operation.scopedKey !== undefined || dedupKey.by === 'key') return operation;
  const scopedKey = placeOf({ account, tool, dedupKey });
  const holder = yield* tables.operations.holder(scopedKey);
  if (holder !== undefined && !isSettled(holder)) return operation;
  // Found by its content, it still answers when this one does not any more.
  if (holder !== undefined)
    yield* tables.operations.update(holder, movedToContent(holder, scopedKey));
  return { ...operation, scopedKey };
}

/**
 * A repeat that was meant and executed beside an operation that had the template's slot, and has given it
 * up since: what the template names was done.
 */
export function* doneBeside(
  { operations, now }: Tables,
  { account, tool, dedupKey, effect }: HeldQuery,
): Script<OperationRecord | undefined> {
  if (effect !== 'once' || dedupKey.by !== 'template') return undefined;
  const beside = yield* operations.list({ account, tool, dedupKey, withoutDedupKey: true });
  return beside.find(
    (other) =>
      other.damaged === undefined &&
      isSettled(other) &&
      other.windowMs !== undefined &&
      !isOver(other.heldUntil, now),
  );
}

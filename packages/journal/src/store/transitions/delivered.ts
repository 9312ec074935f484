import type { Script } from '../script.js';
import { isSettled } from '../states.js';
import type { Delivery } from '../store.js';
import type { Tables } from '../tables.js';
import { delivered } from './places.js';

/** Always in the same order, so that two processes never wait for each other. */
export function* markDelivered(tables: Tables, deliveries: readonly Delivery[]): Script<void> {
  const sorted = deliveries.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  for (const { id, agoMs } of sorted) {
    const operation = yield* tables.operations.get(id);
    if (operation?.windowMs === undefined || !isSettled(operation)) continue;
    yield* tables.operations.update(operation, delivered(operation, tables.now - agoMs));
  }
}

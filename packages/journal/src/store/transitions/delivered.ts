import type { Script } from '../script.js';
import { isSettled } from '../states.js';
import type { Delivery } from '../store.js';
import type { Tables } from '../tables.js';
import { delivered } from './places.js';

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

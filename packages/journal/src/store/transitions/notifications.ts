import { isDamage } from '../../error.js';
import type { OperationRecord } from '../record.js';
import type { Script } from '../script.js';
import type { Notification } from '../store.js';
import type { Tables } from '../tables.js';

/** After this time another process may send a taken notification. */
const SEND_TIMEOUT_MS = 60_000;

function isRelevant({ kind }: Notification, operation: OperationRecord | undefined): boolean {
  if (kind === 'operation_unknown') return operation?.state === 'unknown';
  return operation?.state === 'awaiting_approval' && operation.approval?.decision === undefined;
}

/** A notification of a damaged operation is taken, so that the sender reports the damage. */
function* isRelevantOrDamaged(tables: Tables, notification: Notification): Script<boolean> {
  try {
    return isRelevant(notification, yield* tables.operations.peek(notification.operationId));
  } catch (error) {
    if (isDamage(error)) return true;
    throw error;
  }
}

/** Takes due notifications and deletes those whose operation has been resolved. */
export function* takeNotifications(tables: Tables, limit: number): Script<readonly Notification[]> {
  const taken: Notification[] = [];
  for (const notification of yield* tables.notifications.due(limit)) {
    if (!(yield* isRelevantOrDamaged(tables, notification))) {
      yield* tables.notifications.remove(notification.id);
      continue;
    }
    const tries = notification.tries + 1;
    yield* tables.notifications.defer(notification.id, tables.now + SEND_TIMEOUT_MS, tries);
    taken.push({ ...notification, tries });
  }
  return taken;
}

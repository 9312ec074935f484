import { isDamage } from '../../error.js';
import type { OperationRecord } from '../record.js';
import type { Script } from '../script.js';
import type { Notification } from '../store.js';
import type { Tables } from '../tables.js';

/** How long whoever took a notice has for telling it, before somebody else may. */
const TELLING_MS = 60_000;

function stillMatters({ kind }: Notification, operation: OperationRecord | undefined): boolean {
  if (kind === 'operation_unknown') return operation?.state === 'unknown';
  return operation?.state === 'awaiting_approval' && operation.approval?.decision === undefined;
}

/** Whoever tells of one that is damaged finds that out, and reports it. */
function* matters(tables: Tables, notification: Notification): Script<boolean> {
  try {
    return stillMatters(notification, yield* tables.operations.look(notification.operationId));
  } catch (error) {
    if (isDamage(error)) return true;
    throw error;
  }
}

/** What has been dealt with meanwhile is not told any more. */
export function* takeNotifications(tables: Tables, limit: number): Script<readonly Notification[]> {
  const taken: Notification[] = [];
  for (const notification of yield* tables.notifications.due(limit)) {
    if (!(yield* matters(tables, notification))) {
      yield* tables.notifications.remove(notification.id);
      continue;
    }
    const tries = notification.tries + 1;
    yield* tables.notifications.defer(notification.id, tables.now + TELLING_MS, tries);
    taken.push({ ...notification, tries });
  }
  return taken;
}

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
function* matters(tables: Tables, notice: Notification): Script<boolean> {
  try {
    return stillMatters(notice, yield* tables.operations.look(notice.operationId));
  } catch (error) {
    if (isDamage(error)) return true;
    throw error;
  }
}

/** What has been dealt with meanwhile is not told any more. */
export function* takeNotifications(tables: Tables, limit: number): Script<readonly Notification[]> {
  const taken: Notification[] = [];
  for (const notice of yield* tables.notices.due(limit)) {
    if (!(yield* matters(tables, notice))) {
      yield* tables.notices.remove(notice.id);
      continue;
    }
    const tries = notice.tries + 1;
    yield* tables.notices.defer(notice.id, tables.now + TELLING_MS, tries);
    taken.push({ ...notice, tries });
  }
  return taken;
}

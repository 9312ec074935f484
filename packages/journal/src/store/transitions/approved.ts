import type { Operation } from '../../operation.js';
import { view } from '../record.js';
import type { Script } from '../script.js';
import type { Tables } from '../tables.js';
import { closed } from './approvals.js';
import { record as entry } from './audit-entry.js';

export function* takeApproved(
  tables: Tables,
  owner: string,
  tools: readonly string[],
): Script<Operation | undefined> {
  if (tools.length === 0 || !(yield* tables.owners.alive(owner))) return undefined;
  const operation = yield* tables.operations.nextApproved(tools);
  if (operation === undefined) return undefined;
  const after = yield* tables.operations.update(operation, {
    state: 'claimed',
    owner,
    fence: operation.fence + 1,
    restsUntil: undefined,
  });
  yield* tables.audit.append(entry('approval_taken', after, owner));
  return view(after, tables.now);
}

export function* expireOne(
  tables: Tables,
  id: string,
  holdMs: number,
): Script<Operation | undefined> {
  const operation = yield* tables.operations.get(id);
  if (operation?.state !== 'awaiting_approval') return undefined;
  if (operation.approval === undefined || operation.approval.expiresAt > tables.now)
    return undefined;
  const changes = closed(operation, 'expired', tables.now, holdMs);
  const after = yield* tables.operations.update(operation, changes);
  yield* tables.audit.append(entry('approval_expired', after, 'toolkeel'));
  return view(after, tables.now);
}

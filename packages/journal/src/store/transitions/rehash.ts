import type { Identity } from '../../operation.js';
import type { OperationRecord, RecordChanges } from '../record.js';
import type { Script } from '../script.js';
import type { Act, Rehash } from '../store.js';
import type { Tables } from '../tables.js';

/** Brings an operation to the present recipe of hashes, and to the account's own id. */
export function* rehash(
  tables: Tables,
  id: string,
  to: Rehash,
  placeOf: (act: Act) => string,
): Script<boolean> {
  const record = yield* tables.operations.get(id);
  if (record === undefined || !(yield* tables.operations.takeOldHash(id))) return false;
  const { account, argsHash, editedHash } = to;
  const slotFor = (identity: Identity): string => placeOf({ account, tool: record.tool, identity });
  const byContent = (value: string): string => slotFor({ by: 'content', value });
  const identity: Identity =
    record.identity.by === 'content'
      ? { by: 'content', value: editedHash ?? argsHash }
      : { by: record.identity.by, value: to.template ?? record.identity.value };
  const other =
    record.key === undefined ? byContent(argsHash) : slotFor({ by: 'key', value: record.key });
  const slot = yield* unlessTaken(tables, record, record.slot && slotFor(identity));
  const otherSlot = yield* unlessTaken(tables, record, record.otherSlot && other);
  const changes: RecordChanges = {
    account,
    identity,
    argsHash,
    slot,
    otherSlot,
    ...(record.effect === 'once' && contentsOf([slot, otherSlot], to, byContent)),
    ...(record.approval && { approval: { ...record.approval, hash: editedHash ?? argsHash } }),
  };
  yield* tables.operations.update(record, changes);
  return true;
}

/** Two accounts of one user may both have done it: one of them keeps the slot, and both are found by content. */
function* unlessTaken(
  { operations }: Tables,
  { id }: OperationRecord,
  slot: string | undefined,
): Script<string | undefined> {
  const holder = slot === undefined ? undefined : yield* operations.holder(slot);
  return holder === undefined || holder.id === id ? slot : undefined;
}

function contentsOf(
  slots: readonly (string | undefined)[],
  { argsHash, editedHash }: Rehash,
  byContent: (value: string) => string,
): RecordChanges {
  const unlessSlot = (hash: string | undefined): string | undefined => {
    const content = hash === undefined ? undefined : byContent(hash);
    return slots.includes(content) ? undefined : content;
  };
  return { contentSlot: unlessSlot(argsHash), editedSlot: unlessSlot(editedHash) };
}

import type { DedupKey } from '../../operation.js';
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
  const slotFor = (dedupKey: DedupKey): string => placeOf({ account, tool: record.tool, dedupKey });
  const byContent = (value: string): string => slotFor({ by: 'content', value });
  const dedupKey: DedupKey =
    record.dedupKey.by === 'content'
      ? { by: 'content', value: editedHash ?? argsHash }
      : { by: record.dedupKey.by, value: to.template ?? record.dedupKey.value };
  const other =
    record.key === undefined ? byContent(argsHash) : slotFor({ by: 'key', value: record.key });
  const scopedKey = yield* unlessTaken(tables, record, record.scopedKey && slotFor(dedupKey));
  const secondaryDedupKey = yield* unlessTaken(tables, record, record.secondaryDedupKey && other);
  const changes: RecordChanges = {
    account,
    dedupKey,
    argsHash,
    scopedKey,
    secondaryDedupKey,
    ...(record.effect === 'once' && contentsOf([scopedKey, secondaryDedupKey], to, byContent)),
    ...(record.approval && { approval: { ...record.approval, hash: editedHash ?? argsHash } }),
  };
  yield* tables.operations.update(record, changes);
  return true;
}

/** Two accounts of one user may both have done it: one of them keeps the slot, and both are found by content. */
function* unlessTaken(
  { operations }: Tables,
  { id }: OperationRecord,
  scopedKey: string | undefined,
): Script<string | undefined> {
  const holder = scopedKey === undefined ? undefined : yield* operations.holder(scopedKey);
  return holder === undefined || holder.id === id ? scopedKey : undefined;
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
  return { contentDedupKey: unlessSlot(argsHash), editedDedupKey: unlessSlot(editedHash) };
}

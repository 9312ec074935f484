import type { DedupKey } from '../../operation.js';
import type { OperationRecord, RecordChanges } from '../record.js';
import type { Script } from '../script.js';
import type { Act, Rehash } from '../store.js';
import type { Tables } from '../tables.js';

/** Moves an operation to the current account id and hashes. */
export function* rehash(
  tables: Tables,
  id: string,
  to: Rehash,
  scopedKeyOf: (act: Act) => string,
): Script<boolean> {
  const record = yield* tables.operations.get(id);
  if (record === undefined || !(yield* tables.operations.takeOldHash(id))) return false;
  const { account, argsHash, editedHash } = to;
  const keyFor = (dedupKey: DedupKey): string =>
    scopedKeyOf({ account, tool: record.tool, dedupKey });
  const byContent = (value: string): string => keyFor({ by: 'content', value });
  const dedupKey: DedupKey =
    record.dedupKey.by === 'content'
      ? { by: 'content', value: editedHash ?? argsHash }
      : { by: record.dedupKey.by, value: to.template ?? record.dedupKey.value };
  const secondary =
    record.key === undefined ? byContent(argsHash) : keyFor({ by: 'key', value: record.key });
  const scopedKey = yield* unlessHeld(tables, record, record.scopedKey && keyFor(dedupKey));
  const secondaryDedupKey = yield* unlessHeld(
    tables,
    record,
    record.secondaryDedupKey && secondary,
  );
  const changes: RecordChanges = {
    account,
    dedupKey,
    argsHash,
    scopedKey,
    secondaryDedupKey,
    ...(record.effect === 'once' && contentKeys([scopedKey, secondaryDedupKey], to, byContent)),
    ...(record.approval && { approval: { ...record.approval, hash: editedHash ?? argsHash } }),
  };
  yield* tables.operations.update(record, changes);
  return true;
}

/** Two former accounts of one user may hold the same key: the first keeps it, both are found by content. */
function* unlessHeld(
  { operations }: Tables,
  { id }: OperationRecord,
  scopedKey: string | undefined,
): Script<string | undefined> {
  const holder = scopedKey === undefined ? undefined : yield* operations.holder(scopedKey);
  return holder === undefined || holder.id === id ? scopedKey : undefined;
}

function contentKeys(
  taken: readonly (string | undefined)[],
  { argsHash, editedHash }: Rehash,
  byContent: (value: string) => string,
): RecordChanges {
  const unlessTaken = (hash: string | undefined): string | undefined => {
    const content = hash === undefined ? undefined : byContent(hash);
    return taken.includes(content) ? undefined : content;
  };
  return { contentDedupKey: unlessTaken(argsHash), editedDedupKey: unlessTaken(editedHash) };
}

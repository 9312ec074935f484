import type { Script } from '../script.js';
import type { StoredRecord } from '../store.js';
import type { Tables } from '../tables.js';

/** Stores a record with the next version. Undefined: another version than `expected` is stored. */
export function* putRecord(
  { records }: Pick<Tables, 'records'>,
  record: Omit<StoredRecord, 'version'>,
  expected: number | undefined,
): Script<StoredRecord | undefined> {
  for (;;) {
    const found = yield* records.get(record);
    const version = found?.version ?? 0;
    if (expected !== undefined && expected !== version) return undefined;
    const stored = { ...record, version: version + 1 };
    if (found) {
      if (yield* records.replace(stored, version)) return stored;
    } else if (yield* records.insert(stored)) {
      yield* records.trim(record);
      return stored;
    }
    // Another process stored the same new record meanwhile: it is locked by the next read.
  }
}

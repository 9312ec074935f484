import type { PackRecord, PackRecords } from '@toolkeel/contract';
import type { Encryption } from './encryption/encryption.js';
import { JournalError } from './error.js';
import type { JournalStore, RecordStore, StoredRecord, StoredRecordId } from './store/store.js';

/** A record is a small document; larger ones would make lists slow. */
const MAX_BYTES = 64 * 1024;

export interface PackRecordsOptions {
  readonly store: RecordStore & Pick<JournalStore, 'now'>;
  readonly encryption: Encryption;
  /** The name of the pack. Packs do not see the records of each other. */
  readonly pack: string;
  /** Redacts secrets before they are stored. */
  readonly scrub?: (text: string) => string;
}

/** The records of a pack in the journal's database. Their data is encrypted and bound to their id. */
export function packRecords(options: PackRecordsOptions): PackRecords {
  const { store, encryption, pack, scrub = (text) => text } = options;
  const contextOf = ({ kind, account, id }: Omit<StoredRecordId, 'pack'>): string =>
    JSON.stringify(['record', pack, kind, account, id]);
  const open = <Data>({ pack: _, data, ...record }: StoredRecord): PackRecord<Data> => ({
    ...record,
    data: JSON.parse(encryption.decrypt(data, contextOf(record))) as Data,
  });

  return {
    now: store.now,
    get: async <Data>(kind: string, account: string, id: string) => {
      const found = await store.getRecord({ pack, kind, account, id });
      return found && open<Data>(found);
    },
    put: async (record, expected) => {
      const json = scrub(JSON.stringify(record.data));
      if (Buffer.byteLength(json) > MAX_BYTES) {
        throw new JournalError('invalid', `A record of ${pack} exceeds ${MAX_BYTES} bytes.`);
      }
      const data = encryption.encrypt(json, contextOf(record));
      const stored = await store.putRecord({ ...record, pack, data }, expected);
      return stored && { ...record, version: stored.version };
    },
    list: async <Data>(query: Parameters<PackRecords['list']>[0]) =>
      (await store.records({ ...query, pack })).map((record) => open<Data>(record)),
    count: (filter) => store.countRecords({ ...filter, pack }),
    remove: (kind, account, id) => store.removeRecord({ pack, kind, account, id }),
  };
}

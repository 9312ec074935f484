/** A record that a pack keeps in the host's database, beside the journal. */
export interface PackRecord<Data = unknown> {
  /** The sort of record, such as `draft`. */
  readonly kind: string;
  /** The account that it belongs to, as the upstream identifies it. */
  readonly account: string;
  /** Unique within kind and account. */
  readonly id: string;
  /** The time of the event that it records, in Unix milliseconds. Lists are ordered by it. */
  readonly at: number;
  /** What the record is about, such as an author. Lists select by it. */
  readonly subject?: string;
  /** Lists select by it. */
  readonly state?: string;
  /** JSON. Encrypted at rest, unlike the other members. */
  readonly data: Data;
  /** When it is deleted, in Unix milliseconds. Default: it stays until it is removed. */
  readonly expiresAt?: number;
  /** 1 for a new record; grows with every change. */
  readonly version: number;
}

export type RecordInput<Data = unknown> = Omit<PackRecord<Data>, 'version'>;

export interface RecordFilter {
  readonly kind: string;
  readonly account: string;
  readonly subject?: string;
  readonly states?: readonly string[];
  /** At or after `since` and before `until`. */
  readonly since?: number;
  readonly until?: number;
}

export interface RecordQuery extends RecordFilter {
  /** Default: 100, at most 1,000. */
  readonly limit?: number;
  /** Default: newest first. */
  readonly order?: 'oldest';
  /** The last record of the previous page. */
  readonly after?: Pick<PackRecord, 'at' | 'id'>;
}

/**
 * The records of one pack, shared by all processes of an installation. Every method is atomic, and a
 * write is durable when its promise resolves. A rejection means that the database failed.
 */
export interface PackRecords {
  /** The clock of the database, in Unix milliseconds. */
  readonly now: () => Promise<number>;
  readonly get: <Data>(
    kind: string,
    account: string,
    id: string,
  ) => Promise<PackRecord<Data> | undefined>;
  /**
   * Stores a record and returns it. `expected`: the version that it replaces, 0 if it must be new; if
   * another version is stored, nothing changes and the result is undefined.
   */
  readonly put: <Data>(
    record: RecordInput<Data>,
    expected?: number,
  ) => Promise<PackRecord<Data> | undefined>;
  /** Ordered by `at`, then `id`. */
  readonly list: <Data>(query: RecordQuery) => Promise<readonly PackRecord<Data>[]>;
  readonly count: (filter: RecordFilter) => Promise<number>;
  readonly remove: (kind: string, account: string, id: string) => Promise<void>;
}

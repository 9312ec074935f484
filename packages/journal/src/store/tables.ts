import type { AuditRow } from '../audit/chain.js';
import type { OperationState, Owner } from '../operation.js';
import type { CallFilter, CallRow, ProcessReport, StoredCall, StoredProcess } from './activity.js';
import type { ListedRecord, OperationRecord, RecordChanges } from './record.js';
import type { Script } from './script.js';
import type {
  AuditEntry,
  FencingToken,
  Notification,
  OperationFilter,
  OperatorAuditRow,
  RecordStore,
  StoredRecord,
  StoredRecordId,
} from './store.js';

/** The tables that transitions read and write. A writing transition locks each operation that it reads. */
export interface Tables {
  /** The start of the transition on the store's clock. */
  readonly now: number;
  readonly operations: OperationsTable;
  readonly owners: OwnersTable;
  readonly limits: LimitsTable;
  readonly audit: AuditTable;
  readonly notifications: NotificationsTable;
  readonly calls: CallsTable;
  readonly processes: ProcessesTable;
  readonly meta: MetaTable;
  readonly records: RecordsTable;
}

export interface OperationsTable {
  readonly get: (id: string) => Script<OperationRecord | undefined>;
  /** The existing ones, locked in a fixed order to avoid deadlocks. */
  readonly getAll: (ids: readonly string[]) => Script<readonly OperationRecord[]>;
  /** Without a lock. */
  readonly peek: (id: string) => Script<OperationRecord | undefined>;
  /** The operation with this `scopedKey` or `secondaryDedupKey`. */
  readonly holder: (scopedKey: string) => Script<OperationRecord | undefined>;
  /** All operations with this content key, including those whose hold has ended. */
  readonly withContent: (content: string) => Script<readonly OperationRecord[]>;
  /** Blocks claims of this content until the end of the transition. */
  readonly lockContent: (content: string) => Script<void>;
  /** The operation, if the fencing token matches and the owner's lease is live. */
  readonly held: (fencingToken: FencingToken) => Script<OperationRecord | undefined>;
  /** Inserts a newly claimed operation. False: another operation holds one of its keys. */
  readonly insert: (record: OperationRecord) => Script<boolean>;
  /** The same in one statement, also requiring a live owner lease and no other operation with this content. */
  readonly insertIfFree: (record: OperationRecord, content: string | undefined) => Script<boolean>;
  /** Returns the updated record, possibly the same object. Waiting callers are woken after the commit. */
  readonly update: (record: OperationRecord, changes: RecordChanges) => Script<OperationRecord>;
  /** Deletes it and wakes waiting callers. */
  readonly remove: (record: OperationRecord) => Script<void>;
  readonly list: (filter: OperationFilter) => Script<readonly ListedRecord[]>;
  readonly oldHashes: (
    accounts: readonly string[],
    tools: readonly string[],
    limit: number,
  ) => Script<readonly ListedRecord[]>;
  /** Changes the account of settled operations that hold no dedup key. */
  readonly moveFree: (
    accounts: readonly string[],
    tools: readonly string[],
    to: string,
  ) => Script<void>;
  /** Marks the hashes as current. False: they already were. */
  readonly takeOldHash: (id: string) => Script<boolean>;
  readonly count: (states: readonly OperationState[]) => Script<number>;
  /** In-flight operations whose owner's lease has expired: one page, oldest first. */
  readonly abandoned: (after?: string) => Script<readonly string[]>;
  /** In-flight operations of this owner. */
  readonly ownedBy: (owner: string) => Script<readonly string[]>;
  /** The approved operation that was decided first; skips locked and damaged ones. */
  readonly nextApproved: (tools: readonly string[]) => Script<OperationRecord | undefined>;
  /** The number of undecided approvals, of this account or of all. */
  readonly undecided: (account?: string) => Script<number>;
  /** Approvals past their expiry: one page, oldest first. */
  readonly overdueApprovals: (after?: string) => Script<readonly string[]>;
  /** Deletes up to `limit` operations, as `JournalStore.prune` does; returns their number. */
  readonly prune: (settledBefore: number, limit: number) => Script<number>;
}

export interface OwnersTable {
  readonly get: (id: string) => Script<(Owner & { readonly leaseUntil: number }) | undefined>;
  /** Whether the lease is live now, on the store's clock, rather than at the start of the transition. */
  readonly alive: (id: string) => Script<boolean>;
  /** Whether an owner with a live lease serves this tool. */
  readonly anyWith: (tool: string) => Script<boolean>;
  readonly registerOwner: (owner: Owner, leaseMs: number) => Script<void>;
  /** False: there is no live lease. */
  readonly renew: (id: string, leaseMs: number) => Script<boolean>;
  readonly deregisterOwner: (id: string) => Script<void>;
  /** Deletes owners whose lease ended before this time and that own nothing. */
  readonly prune: (lapsedBefore: number) => Script<void>;
}

/** One send, as counted by a policy limit. */
export interface Hit {
  readonly name: string;
  readonly at: number;
  readonly expiresAt: number;
  readonly operation: string;
  readonly send: number;
}

export interface LimitsTable {
  /** Locks these counters until the end of the transition; returns the time of the lock. */
  readonly lock: (names: readonly string[]) => Script<number>;
  /** The times of the newest and the n-th newest entry. */
  readonly newest: (
    name: string,
    n: number,
  ) => Script<{ readonly last: number | undefined; readonly nth: number | undefined }>;
  /** Sets entries with a later time to `now`, after the clock was set back. */
  readonly clampTo: (name: string, now: number) => Script<void>;
  readonly add: (hits: readonly Hit[]) => Script<void>;
  readonly remove: (operation: string, send: number) => Script<void>;
  readonly prune: () => Script<void>;
}

export interface AuditTable {
  readonly append: (entry: AuditEntry) => Script<void>;
  readonly head: () => Script<{ readonly seq: number; readonly hash: string } | undefined>;
  readonly rows: (from: number, limit: number) => Script<readonly AuditRow[]>;
  /** Rows that record a decision of an operator. */
  readonly operatorAuditRows: (from: number, limit: number) => Script<readonly OperatorAuditRow[]>;
  readonly lastSeq: () => Script<number>;
}

export interface NotificationsTable {
  /** At most one per operation and kind. */
  readonly add: (kind: Notification['kind'], operationId: string) => Script<void>;
  readonly due: (limit: number) => Script<readonly Notification[]>;
  readonly defer: (id: string, until: number, tries?: number) => Script<void>;
  /** Keeps the row, so that the same event is not notified again. */
  readonly markSent: (id: string) => Script<void>;
  readonly remove: (id: string) => Script<void>;
  /** Removes the row, because the event is resolved; a recurrence is notified again. */
  readonly withdraw: (kind: Notification['kind'], operationId: string) => Script<void>;
  /** Deletes notifications of deleted operations. */
  readonly prune: () => Script<void>;
}

export interface CallsTable {
  /** Deletes the oldest rows above the limit. */
  readonly add: (calls: readonly CallRow[]) => Script<void>;
  readonly list: (filter: CallFilter, limit: number) => Script<readonly StoredCall[]>;
  /** The newest and the oldest stored one; 0 without any. */
  readonly lastSeq: () => Script<number>;
  readonly firstSeq: () => Script<number>;
  readonly prune: (before: number) => Script<void>;
}

export interface ProcessesTable {
  /** Also deletes processes that have not reported for long. */
  readonly report: (report: ProcessReport) => Script<void>;
  /** The last report first. */
  readonly list: () => Script<readonly StoredProcess[]>;
}

export interface MetaTable {
  readonly get: (key: string) => Script<string | undefined>;
  /** Sets the value if absent; returns the stored one. */
  readonly init: (key: string, value: string) => Script<string>;
}

export interface RecordsTable {
  readonly get: (id: StoredRecordId) => Script<StoredRecord | undefined>;
  /** Inserts a record; false if one with its id exists. */
  readonly insert: (record: StoredRecord) => Script<boolean>;
  /** Replaces the record if its version is `expected`. */
  readonly replace: (record: StoredRecord, expected: number) => Script<boolean>;
  readonly list: (query: Parameters<RecordStore['records']>[0]) => Script<readonly StoredRecord[]>;
  readonly count: (filter: Parameters<RecordStore['countRecords']>[0]) => Script<number>;
  readonly remove: (id: StoredRecordId) => Script<void>;
  /** Deletes the oldest records with an expiry above the limit. */
  readonly trim: (of: Pick<StoredRecord, 'pack' | 'kind' | 'account'>) => Script<void>;
  /** Deletes expired records. */
  readonly prune: (now: number) => Script<void>;
}

import type { AuditRow } from '../audit/chain.js';
import type { OperationState, Owner } from '../operation.js';
import type { ListedRecord, OperationRecord, RecordChanges } from './record.js';
import type { Script } from './script.js';
import type {
  AuditEntry,
  CallRow,
  FencingToken,
  Notification,
  OperationFilter,
  OperatorAuditRow,
} from './store.js';

/**
 * What transitions are made of. Inside of a transition that writes, an operation that was read is
 * locked until its end.
 */
export interface Tables {
  /** When the transition began, on the store's clock. */
  readonly now: number;
  readonly operations: OperationsTable;
  readonly owners: OwnersTable;
  readonly limits: LimitsTable;
  readonly audit: AuditTable;
  readonly notifications: NotificationsTable;
  readonly calls: CallsTable;
  readonly meta: MetaTable;
}

export interface OperationsTable {
  readonly get: (id: string) => Script<OperationRecord | undefined>;
  /** Those of them that there are, each locked, always in the same order. */
  readonly getAll: (ids: readonly string[]) => Script<readonly OperationRecord[]>;
  /** Without a lock. */
  readonly look: (id: string) => Script<OperationRecord | undefined>;
  /** Who has it, as its slot or its other one. */
  readonly holder: (scopedKey: string) => Script<OperationRecord | undefined>;
  /** All that have this content, under whatever name, and whether or not it still counts. */
  readonly withContent: (content: string) => Script<readonly OperationRecord[]>;
  /** Claims of this content wait until the end of the transition. */
  readonly lockContent: (content: string) => Script<void>;
  /** If it is still the caller's, and his lease lives. */
  readonly held: (fencingToken: FencingToken) => Script<OperationRecord | undefined>;
  /** A new one, of which nothing is known but its claim. False: another operation has taken a slot of it. */
  readonly insert: (record: OperationRecord) => Script<boolean>;
  /** The same in one statement, only if its owner's lease is live and no other operation has this content. */
  readonly insertIfFree: (record: OperationRecord, content: string | undefined) => Script<boolean>;
  /** Gives it as it is now; the record may be the same one. Whoever waits for it is told, once the transition is over. */
  readonly update: (record: OperationRecord, changes: RecordChanges) => Script<OperationRecord>;
  /** Nobody works on it any more, and it is gone. */
  readonly remove: (record: OperationRecord) => Script<void>;
  readonly list: (filter: OperationFilter) => Script<readonly ListedRecord[]>;
  readonly oldHashes: (
    accounts: readonly string[],
    tools: readonly string[],
    limit: number,
  ) => Script<readonly ListedRecord[]>;
  /** Those that are over and hold no slot any more: only whose they are is brought up to date. */
  readonly moveFree: (
    accounts: readonly string[],
    tools: readonly string[],
    to: string,
  ) => Script<void>;
  /** True the first time, for one whose hashes an earlier version made. */
  readonly takeOldHash: (id: string) => Script<boolean>;
  readonly count: (states: readonly OperationState[]) => Script<number>;
  /** In flight, and their owner's lease is over: a page of them, the oldest first. */
  readonly abandoned: (after?: string) => Script<readonly string[]>;
  /** In flight, and owned by this one. */
  readonly ownedBy: (owner: string) => Script<readonly string[]>;
  /** The one that waits longest; passes over what somebody else is just taking, or nobody can read. */
  readonly nextApproved: (tools: readonly string[]) => Script<OperationRecord | undefined>;
  /** How many of this account wait for a person's decision. */
  readonly undecided: (account: string) => Script<number>;
  /** A page of them, the oldest first. */
  readonly overdueApprovals: (after?: string) => Script<readonly string[]>;
  /** Deletes some of what settled before and holds no slot; how many. */
  readonly prune: (settledBefore: number, limit: number) => Script<number>;
}

export interface OwnersTable {
  readonly get: (id: string) => Script<(Owner & { readonly leaseUntil: number }) | undefined>;
  /** By the store's clock as it is at this very moment, not as the transition began. */
  readonly alive: (id: string) => Script<boolean>;
  /** Whether one with a live lease has this tool. */
  readonly anyWith: (tool: string) => Script<boolean>;
  readonly registerOwner: (owner: Owner, leaseMs: number) => Script<void>;
  /** False: there was no live lease to renew. */
  readonly renew: (id: string, leaseMs: number) => Script<boolean>;
  readonly deregisterOwner: (id: string) => Script<void>;
  /** Deletes those that lapsed before and own nothing any more. */
  readonly prune: (lapsedBefore: number) => Script<void>;
}

/** What was sent, for counting. */
export interface Hit {
  readonly name: string;
  readonly at: number;
  readonly expiresAt: number;
  readonly operation: string;
  readonly send: number;
}

export interface LimitsTable {
  /** Nobody else counts under these names until the end; gives the time at which that began. */
  readonly lock: (names: readonly string[]) => Script<number>;
  /** When the last one was counted, and the n-th newest, where there are so many. */
  readonly newest: (
    name: string,
    n: number,
  ) => Script<{ readonly last: number | undefined; readonly nth: number | undefined }>;
  /** What was counted at a later time was counted now. */
  readonly pullBack: (name: string, now: number) => Script<void>;
  readonly add: (hits: readonly Hit[]) => Script<void>;
  readonly remove: (operation: string, send: number) => Script<void>;
  readonly prune: () => Script<void>;
}

export interface AuditTable {
  readonly append: (entry: AuditEntry) => Script<void>;
  readonly head: () => Script<{ readonly seq: number; readonly hash: string } | undefined>;
  readonly rows: (from: number, limit: number) => Script<readonly AuditRow[]>;
  /** Rows that a person's word has made. */
  readonly operatorAuditRows: (from: number, limit: number) => Script<readonly OperatorAuditRow[]>;
  readonly lastSeq: () => Script<number>;
}

export interface NotificationsTable {
  /** Once for each operation and kind. */
  readonly add: (kind: Notification['kind'], operationId: string) => Script<void>;
  readonly due: (limit: number) => Script<readonly Notification[]>;
  readonly defer: (id: string, until: number, tries?: number) => Script<void>;
  /** Never due again; it stays, so that nobody is told twice of the same. */
  readonly told: (id: string) => Script<void>;
  readonly remove: (id: string) => Script<void>;
  /** It is over, told or not: should it come to that again, it is news. */
  readonly withdraw: (kind: Notification['kind'], operationId: string) => Script<void>;
  /** Those of operations that are gone. */
  readonly prune: () => Script<void>;
}

export interface CallsTable {
  /** The oldest make room. */
  readonly add: (calls: readonly CallRow[]) => Script<void>;
  readonly list: (since: number, limit: number) => Script<readonly CallRow[]>;
  readonly prune: (before: number) => Script<void>;
}

export interface MetaTable {
  readonly get: (key: string) => Script<string | undefined>;
  /** The first value stays; gives the one that is kept. */
  readonly init: (key: string, value: string) => Script<string>;
}

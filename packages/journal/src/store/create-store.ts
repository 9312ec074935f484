import { isDamage } from '../error.js';
import type { Operation } from '../operation.js';
import { scopedDedupKey } from '../operation.js';
import { toOperation } from './record.js';
import { answer, type Script } from './script.js';
import type { Act, ClaimRequest, JournalStore } from './store.js';
import type { Tables } from './tables.js';
import {
  awaitApproval,
  decideApproval,
  editApproval,
  expireApproval,
  takeApproved,
  withdraw,
} from './transitions/approvals.js';
import { claim, type ClaimKeys, claimKeys, findHolder, isHeld } from './transitions/claim.js';
import { takeNotifications } from './transitions/notifications.js';
import { expireAllOf, expireIfAbandoned, takeOver } from './transitions/ownership.js';
import { completeStep, limitsReached, reopenStep, send } from './transitions/send.js';
import { putRecord } from './transitions/records.js';
import { markDelivered, reconcile, settle } from './transitions/settle.js';
import { rehash } from './transitions/upgrade.js';
import { guardWrites, type WriteGuardOptions } from './write-guard.js';

/** Scripts with the same `lock` run one after the other; only PostgreSQL needs it. */
type Write = <T>(script: (tables: Tables) => Script<T>, lock?: string) => Promise<T>;

type WriteOne = <T>(operation: string, script: (tables: Tables) => Script<T>) => Promise<T>;

/** A transition that normally inserts or changes one operation and nothing else. */
export interface Attempt {
  readonly operation: string;
  readonly isNew?: true;
  /** For an insert: the content that no other transition may claim meanwhile. */
  readonly lock?: string | undefined;
}

/** Undefined: nothing was changed. */
export type Attempted<T> = { readonly value: T } | undefined;

/** The part of a store that depends on the database: running scripts, waiting, closing. */
export interface Engine {
  readonly kind: JournalStore['kind'];
  readonly caution?: string;
  /** The key that at most one operation holds. Default: a hash, which keeps database indexes small. */
  readonly scopedKeyOf?: (act: Act) => string;
  /** Reads committed data without locks. */
  readonly read: <T>(script: (tables: Tables) => Script<T>) => Promise<T>;
  /** Runs a script atomically; durable when it resolves. */
  readonly write: Write;
  /** The same, but a crash of the machine may lose it: for records whose loss has no consequence. Default: `write`. */
  readonly writeUnsynced?: Write;
  /**
   * A cheaper way to run a transition that assumes the normal case; only PostgreSQL has one. If it is
   * another case, `write` has to run it.
   */
  readonly attempt?: <T>(
    script: (tables: Tables) => Script<T>,
    attempt: Attempt,
  ) => Promise<Attempted<T>>;
  /** Reads the audit, after linking rows that are committed. Default: `read`. */
  readonly readAudit?: <T>(script: (tables: Tables) => Script<T>) => Promise<T>;
  /** Checks of the write guard; absent if the store cannot fail them. */
  readonly refuseIfUnfit?: WriteGuardOptions['refuseIfUnfit'];
  readonly findSkew?: WriteGuardOptions['findSkew'];
  readonly wait: JournalStore['wait'];
  readonly onApproved: JournalStore['onApproved'];
  readonly close: () => Promise<void>;
}

const DEFAULT_CALLS = 100;
const PRUNE_BATCH = 1000;

export function createStore(engine: Engine): JournalStore {
  const { kind, scopedKeyOf = hashedKeyOf, read, wait, onApproved, close } = engine;
  const { refuseIfUnfit = neverRefuse, findSkew, readAudit = read } = engine;
  const { attempt } = engine;
  const recentKeys = createRecentKeys();
  const guard = guardWrites({ write: engine.write, refuseIfUnfit, findSkew });
  const { write, heartbeat, writeByClock, refuse } = guard;
  // Results are written even when the guard refuses writes: only this process knows them.
  const writeUnguarded = engine.write;
  const writeUnsynced = engine.writeUnsynced ?? engine.write;

  /** Attempts a transition of one operation first, if the store can. */
  const attempting = (ordinary: Write, check: () => void): WriteOne =>
    attempt === undefined
      ? (_, script) => ordinary(script)
      : async (operation, script) => {
          check();
          const done = await attempt(script, { operation });
          return done ? done.value : ordinary(script);
        };
  const writeSend = attempting(write, refuse);
  const writeSettlement = attempting(writeUnguarded, () => undefined);

  /** Changes each operation in a transition of its own, which keeps locks short. */
  const forEachPaged = async (
    ids: (tables: Tables, after: string | undefined) => Script<readonly string[]>,
    change: (tables: Tables, id: string) => Script<Operation | undefined>,
  ): Promise<readonly Operation[]> => {
    const changed: Operation[] = [];
    let after: string | undefined;
    for (;;) {
      // Continues after operations that cannot be changed.
      const page = await read((tables) => ids(tables, after));
      for (const id of page) {
        const operation = await writeByClock((tables) => change(tables, id)).catch(unlessDamaged);
        if (operation !== undefined) changed.push(operation);
      }
      after = page.at(-1);
      if (after === undefined) return changed;
    }
  };

  const writeClaim = (
    request: ClaimRequest,
    keys = claimKeys(request, scopedKeyOf),
    isProbablyFree = false,
  ) =>
    // Claims of the same content run one after the other, whatever their dedup keys.
    (isProbablyFree ? write : writeByClock)(
      (tables) => claim(tables, request, keys, isProbablyFree),
      keys.content,
    );
  const endLease = (owner: string): Promise<void> =>
    write(function* (tables) {
      yield* expireAllOf(tables, owner);
      yield* tables.owners.deregisterOwner(owner);
    });

  return {
    kind,
    ...(engine.caution !== undefined && { caution: engine.caution }),
    wait,
    onApproved,
    close,
    now: () => read(readClock),

    registerOwner: (owner, leaseMs) =>
      heartbeat(function* (tables) {
        yield* expireAllOf(tables, owner.id);
        yield* tables.owners.registerOwner(owner, leaseMs);
      }),
    renew: async (owner, leaseMs) => {
      if (!(await heartbeat(({ owners }) => owners.renew(owner, leaseMs)))) return false;
      refuse();
      return true;
    },
    deregisterOwner: endLease,
    evictOwner: endLease,
    owner: (id) => read(({ owners }) => owners.get(id)),
    hasLiveOwner: (tool) => read(({ owners }) => owners.anyWith(tool)),

    claim:
      kind === 'memory'
        ? // A template may have an executed duplicate, which `insertIfFree` does not see.
          (request) => writeClaim(request, undefined, request.dedupKey.by !== 'template')
        : async (request) => {
            refuse();
            // Most repeated calls are answered by this read, without a lock.
            const keys = claimKeys(request, scopedKeyOf);
            const claimed =
              attempt && recentKeys.isProbablyFree(request, keys)
                ? await attempt((tables) => claim(tables, request, keys, true), {
                    operation: request.id,
                    isNew: true,
                    lock: keys.content,
                  })
                : undefined;
            if (claimed) return claimed.value;
            const found = await read((tables) => findHolder(tables, request, keys));
            return typeof found === 'object' ? found : writeClaim(request, keys, found === 'free');
          },
    isHeld: (act) => read((tables) => isHeld(tables, act, claimKeys(act, scopedKeyOf))),
    takeOver: (id, owner, fence) => write((tables) => takeOver(tables, id, owner, fence)),
    send: (fencingToken, request) =>
      writeSend(fencingToken.id, (tables) => send(tables, fencingToken, request)),
    completeStep: (fencingToken, step, result) =>
      writeUnguarded((tables) => completeStep(tables, fencingToken, step, result)),
    reopenStep: (fencingToken, step) => write((tables) => reopenStep(tables, fencingToken, step)),
    settle: (fencingToken, settlement) =>
      writeSettlement(fencingToken.id, (tables) =>
        settle(tables, fencingToken, settlement, scopedKeyOf),
      ),
    reconcile: (id, reconciliation) =>
      write((tables) => reconcile(tables, id, reconciliation, scopedKeyOf)),
    markDelivered: (deliveries) => writeUnsynced((tables) => markDelivered(tables, deliveries)),
    sweep: () =>
      forEachPaged(({ operations }, after) => operations.abandoned(after), expireIfAbandoned),

    awaitApproval: (fencingToken, request) =>
      write((tables) => awaitApproval(tables, fencingToken, request)),
    editApproval: (id, edit) => write((tables) => editApproval(tables, id, edit, scopedKeyOf)),
    decideApproval: (id, decision) => write((tables) => decideApproval(tables, id, decision)),
    withdraw: (id, by) => write((tables) => withdraw(tables, id, by)),
    takeApproved: (owner, tools) => writeByClock((tables) => takeApproved(tables, owner, tools)),
    expireApprovals: (holdMs) =>
      forEachPaged(
        ({ operations }, after) => operations.overdueApprovals(after),
        (tables, id) => expireApproval(tables, id, holdMs),
      ),

    get: (id) =>
      read(function* (tables) {
        const record = yield* tables.operations.peek(id);
        return record && toOperation(record, tables.now);
      }),
    list: (filter = {}) =>
      read(function* (tables) {
        const records = yield* tables.operations.list(filter);
        return records.map((record) => toOperation(record, tables.now));
      }),
    count: (states) => read(({ operations }) => operations.count(states)),
    undecided: () => read(({ operations }) => operations.undecided()),

    oldHashes: ({ accounts, tools, limit }) =>
      read(function* (tables) {
        const records = yield* tables.operations.oldHashes(accounts, tools, limit);
        return records.map((record) => toOperation(record, tables.now));
      }),
    moveFree: (accounts, tools, to) =>
      write(({ operations }) => operations.moveFree(accounts, tools, to)),
    rehash: (id, to) => write((tables) => rehash(tables, id, to, scopedKeyOf)),

    recordCalls: async (given, process) => {
      refuse();
      await writeUnsynced(function* ({ calls, processes }) {
        yield* calls.add(given);
        if (process) yield* processes.report(process);
      });
    },
    calls: ({ limit = DEFAULT_CALLS, ...filter } = {}) =>
      read(({ calls }) => calls.list(filter, limit)),
    callRange: () =>
      read(function* ({ calls }) {
        return { first: yield* calls.firstSeq(), last: yield* calls.lastSeq() };
      }),
    processes: () => read(({ processes }) => processes.list()),
    limitsReached: (limits) => read((tables) => limitsReached(tables, limits)),

    audit: (entry) => write((tables) => tables.audit.append(entry)),
    auditHead: () => readAudit((tables) => tables.audit.head()),
    auditRows: (from, limit) => readAudit((tables) => tables.audit.rows(from, limit)),

    operatorAuditRows: (from, limit) =>
      readAudit(function* ({ audit }) {
        const last = yield* audit.lastSeq();
        if (from === undefined) return { rows: [], next: last + 1 };
        const rows = yield* audit.operatorAuditRows(from, limit);
        const found = rows.at(-1)?.seq ?? 0;
        // Rows beyond a full page, or appended since `last` was read, come with the next call.
        const next = rows.length === limit ? found + 1 : Math.max(from, found + 1, last + 1);
        return { rows, next };
      }),

    takeNotifications: (limit) => write((tables) => takeNotifications(tables, limit)),
    markNotificationSent: (id) => write(({ notifications }) => notifications.markSent(id)),
    rescheduleNotification: (id, againInMs) =>
      write(({ notifications, now }) => notifications.defer(id, now + againInMs)),

    meta: (key) => read(({ meta }) => meta.get(key)),
    initMeta: (key, value) => write(({ meta }) => meta.init(key, value)),

    getRecord: (id) => read(({ records }) => records.get(id)),
    putRecord: (record, expected) => write((tables) => putRecord(tables, record, expected)),
    records: (query) => read(({ records }) => records.list(query)),
    countRecords: (filter) => read(({ records }) => records.count(filter)),
    removeRecord: (id) => write(({ records }) => records.remove(id)),

    prune: async (settledBefore) => {
      let total = 0;
      for (;;) {
        const count = await writeByClock(({ operations }) =>
          operations.prune(settledBefore, PRUNE_BATCH),
        );
        total += count;
        if (count < PRUNE_BATCH) break;
      }
      await write(function* ({ calls, limits, notifications, owners, records, now }) {
        yield* records.prune(now);
        yield* calls.prune(settledBefore);
        yield* notifications.prune();
        yield* limits.prune();
        yield* owners.prune(settledBefore);
      });
      return total;
    },
  };
}

function hashedKeyOf({ account, tool, dedupKey }: Act): string {
  return scopedDedupKey(account, tool, dedupKey);
}

/** A damaged operation is skipped here and shown by listings. */
function unlessDamaged(error: unknown): undefined {
  if (!isDamage(error)) throw error;
}

/** More are forgotten: then a repeated call is attempted once before it is read. */
const MAX_RECENT_KEYS = 10_000;

/** The dedup keys that this process has claimed, because most repeated calls reach the same process. */
function createRecentKeys() {
  const recent = new Set<string>();
  return {
    isProbablyFree: ({ dedupKey }: ClaimRequest, { scopedKey }: ClaimKeys): boolean => {
      const isRecent = recent.delete(scopedKey);
      recent.add(scopedKey);
      if (recent.size > MAX_RECENT_KEYS) recent.delete(recent.values().next().value!);
      // A template may have an executed duplicate, which `insertIfFree` does not see.
      return !isRecent && dedupKey.by !== 'template';
    },
  };
}

function neverRefuse(): Script<void> {
  return answer(undefined);
}

function readClock({ now }: Tables): Script<number> {
  return answer(now);
}

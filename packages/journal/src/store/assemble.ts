import { isDamage } from '../error.js';
import type { Operation } from '../operation.js';
import { scopedDedupKey } from '../slot.js';
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
} from './transitions/approvals.js';
import { claim, findHolder, isHeld, claimKeys } from './transitions/claim.js';
import { markDelivered, reconcile, settle } from './transitions/settle.js';
import { expireAllOf, expireIfAbandoned, takeOver } from './transitions/ownership.js';
import { takeNotifications } from './transitions/notifications.js';
import { rehash } from './transitions/upgrade.js';
import { completeStep, reopenStep, send } from './transitions/send.js';
import { guardWrites, type WriteGuardOptions } from './write-guard.js';

/** `lock`: scripts with the same one follow each other, where scripts do not do so anyway. */
type Write = <T>(script: (tables: Tables) => Script<T>, lock?: string) => Promise<T>;

/** What differs from store to store: where scripts run. */
export interface Engine {
  readonly kind: JournalStore['kind'];
  readonly caution?: string;
  /** What at most one operation can hold. Default: a hash, because an index keeps it. */
  readonly scopedDedupKey?: (act: Act) => string;
  /** Sees what is committed, changes and locks nothing. */
  readonly read: <T>(script: (tables: Tables) => Script<T>) => Promise<T>;
  /** All of it or nothing, durable when it resolves. */
  readonly write: Write;
  /** As the write guard wants them. Where they are absent, nothing can be wrong. */
  readonly refuseIfUnfit?: WriteGuardOptions['refuseIfUnfit'];
  readonly findSkew?: WriteGuardOptions['findSkew'];
  readonly wait: JournalStore['wait'];
  readonly onApproved: JournalStore['onApproved'];
  readonly close: () => Promise<void>;
}

const CALLS = 100;
const PRUNED_AT_ONCE = 1000;

export function assemble(engine: Engine): JournalStore {
  const { kind, scopedDedupKey: scopedKeyOf = hashedKeyOf, read, wait, onApproved, close } = engine;
  const { refuseIfUnfit = nothingToRefuse, findSkew } = engine;
  const guard = guardWrites({ write: engine.write, refuseIfUnfit, findSkew });
  const { write, heartbeat, writeByClock, refuse } = guard;
  // How something ended is known here alone, and is worth a try.
  const writeEnd = engine.write;

  /** Each in a transition of its own, so that nobody is held up for long. */
  const each = async (
    ids: (tables: Tables, after: string | undefined) => Script<readonly string[]>,
    change: (tables: Tables, id: string) => Script<Operation | undefined>,
  ): Promise<readonly Operation[]> => {
    const changed: Operation[] = [];
    let after: string | undefined;
    for (;;) {
      // Page by page to the end: those that cannot be changed keep none from its turn.
      const page = await read((tables) => ids(tables, after));
      for (const id of page) {
        const operation = await writeByClock((tables) => change(tables, id)).catch(unlessDamaged);
        if (operation !== undefined) changed.push(operation);
      }
      after = page.at(-1);
      if (after === undefined) return changed;
    }
  };

  /** Most duplicates are answered without a lock. In memory nobody has to wait for one. */
  const take = (
    request: ClaimRequest,
    keys = claimKeys(request, scopedKeyOf),
    isProbablyFree = false,
  ) =>
    // Claims of one content take turns, whatever they are called.
    (isProbablyFree ? write : writeByClock)(
      (tables) => claim(tables, request, keys, isProbablyFree),
      keys.content,
    );
  const end = (owner: string): Promise<void> =>
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
    now: () => read(clock),

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
    deregisterOwner: end,
    evictOwner: end,
    owner: (id) => read(({ owners }) => owners.get(id)),
    hasLiveOwner: (tool) => read(({ owners }) => owners.anyWith(tool)),

    claim:
      kind === 'memory'
        ? // What the template names may have been done beside an operation that held it.
          (request) => take(request, undefined, request.dedupKey.by !== 'template')
        : async (request) => {
            refuse();
            const keys = claimKeys(request, scopedKeyOf);
            const seen = await read((tables) => findHolder(tables, request, keys));
            return typeof seen === 'object' ? seen : take(request, keys, seen === 'free');
          },
    isHeld: (act) => read((tables) => isHeld(tables, act, claimKeys(act, scopedKeyOf))),
    takeOver: (id, owner, fence) => write((tables) => takeOver(tables, id, owner, fence)),
    send: (fencingToken, request) => write((tables) => send(tables, fencingToken, request)),
    completeStep: (fencingToken, step, result) =>
      writeEnd((tables) => completeStep(tables, fencingToken, step, result)),
    reopenStep: (fencingToken, step) => write((tables) => reopenStep(tables, fencingToken, step)),
    settle: (fencingToken, settlement) =>
      writeEnd((tables) => settle(tables, fencingToken, settlement, scopedKeyOf)),
    reconcile: (id, reconciliation) =>
      write((tables) => reconcile(tables, id, reconciliation, scopedKeyOf)),
    markDelivered: (deliveries) => writeEnd((tables) => markDelivered(tables, deliveries)),
    sweep: () => each(({ operations }, after) => operations.abandoned(after), expireIfAbandoned),

    awaitApproval: (fencingToken, request) =>
      write((tables) => awaitApproval(tables, fencingToken, request)),
    editApproval: (id, edit) => write((tables) => editApproval(tables, id, edit, scopedKeyOf)),
    decideApproval: (id, decision) => write((tables) => decideApproval(tables, id, decision)),
    takeApproved: (owner, tools) => writeByClock((tables) => takeApproved(tables, owner, tools)),
    expireApprovals: (holdMs) =>
      each(
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

    oldHashes: ({ accounts, tools, limit }) =>
      read(function* (tables) {
        const records = yield* tables.operations.oldHashes(accounts, tools, limit);
        return records.map((record) => toOperation(record, tables.now));
      }),
    moveFree: (accounts, tools, to) =>
      write(({ operations }) => operations.moveFree(accounts, tools, to)),
    rehash: (id, to) => write((tables) => rehash(tables, id, to, scopedKeyOf)),

    recordCalls: (calls) => write((tables) => tables.calls.add(calls)),
    calls: ({ since = 0, limit = CALLS } = {}) => read((tables) => tables.calls.list(since, limit)),

    audit: (entry) => write((tables) => tables.audit.append(entry)),
    auditHead: () => read((tables) => tables.audit.head()),
    auditRows: (from, limit) => read((tables) => tables.audit.rows(from, limit)),

    operatorAuditRows: (from, limit) =>
      read(function* ({ audit }) {
        const last = yield* audit.lastSeq();
        if (from === undefined) return { rows: [], next: last + 1 };
        const rows = yield* audit.operatorAuditRows(from, limit);
        const seen = rows.at(-1)?.seq ?? 0;
        // Not further than was looked: rows may have come since.
        const next = rows.length === limit ? seen + 1 : Math.max(from, seen + 1, last + 1);
        return { rows, next };
      }),

    takeNotifications: (limit) => write((tables) => takeNotifications(tables, limit)),
    markNotificationSent: (id) => write(({ notifications }) => notifications.markSent(id)),
    rescheduleNotification: (id, againInMs) =>
      write(({ notifications, now }) => notifications.defer(id, now + againInMs)),

    meta: (key) => read(({ meta }) => meta.get(key)),
    initMeta: (key, value) => write(({ meta }) => meta.init(key, value)),

    prune: async (settledBefore) => {
      let total = 0;
      for (;;) {
        const count = await writeByClock(({ operations }) =>
          operations.prune(settledBefore, PRUNED_AT_ONCE),
        );
        total += count;
        if (count < PRUNED_AT_ONCE) break;
      }
      await write(function* ({ calls, limits, notifications, owners }) {
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

/** It stays as it is, and whoever lists it sees it. */
function unlessDamaged(error: unknown): undefined {
  if (!isDamage(error)) throw error;
}

function nothingToRefuse(): Script<void> {
  return answer(undefined);
}

function clock({ now }: Tables): Script<number> {
  return answer(now);
}

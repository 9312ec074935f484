import { isDamage } from '../error.js';
import type { Operation } from '../operation.js';
import { scopedDedupKey } from '../operation.js';
import { view } from './record.js';
import { answer, type Script } from './script.js';
import type { Act, ClaimRequest, JournalStore } from './store.js';
import type { Tables } from './tables.js';
import { awaitApproval, decideApproval, editApproval } from './transitions/approvals.js';
import { expireOne, takeApproved } from './transitions/approved.js';
import { claim, find, isHeld, placesOf } from './transitions/claim.js';
import { markDelivered } from './transitions/delivered.js';
import { lapseAll, lapseOne } from './transitions/lapse.js';
import { takeNotifications } from './transitions/notices.js';
import { reconcile } from './transitions/reconcile.js';
import { rehash } from './transitions/rehash.js';
import { send } from './transitions/send.js';
import { settle } from './transitions/settle.js';
import { completeStep, reopenStep } from './transitions/steps.js';
import { takeOver } from './transitions/take-over.js';
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
  const { kind, scopedDedupKey: placeOf = hashedSlotOf, read, wait, onApproved, close } = engine;
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
    places = placesOf(request, placeOf),
    isProbablyFree = false,
  ) =>
    // Claims of one content take turns, whatever they are called.
    (isProbablyFree ? write : writeByClock)(
      (tables) => claim(tables, request, places, isProbablyFree),
      places.content,
    );
  const end = (owner: string): Promise<void> =>
    write(function* (tables) {
      yield* lapseAll(tables, owner);
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
        yield* lapseAll(tables, owner.id);
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
            const places = placesOf(request, placeOf);
            const seen = await read((tables) => find(tables, request, places));
            return typeof seen === 'object' ? seen : take(request, places, seen === 'free');
          },
    isHeld: (act) => read((tables) => isHeld(tables, act, placesOf(act, placeOf))),
    takeOver: (id, owner, fence) => write((tables) => takeOver(tables, id, owner, fence)),
    send: (fencingToken, request) => write((tables) => send(tables, fencingToken, request)),
    completeStep: (fencingToken, step, result) =>
      writeEnd((tables) => completeStep(tables, fencingToken, step, result)),
    reopenStep: (fencingToken, step) => write((tables) => reopenStep(tables, fencingToken, step)),
    settle: (fencingToken, settlement) =>
      writeEnd((tables) => settle(tables, fencingToken, settlement, placeOf)),
    reconcile: (id, verdict) => write((tables) => reconcile(tables, id, verdict, placeOf)),
    markDelivered: (deliveries) => writeEnd((tables) => markDelivered(tables, deliveries)),
    sweep: () => each(({ operations }, after) => operations.abandoned(after), lapseOne),

    awaitApproval: (fencingToken, request) =>
      write((tables) => awaitApproval(tables, fencingToken, request)),
    editApproval: (id, edit) => write((tables) => editApproval(tables, id, edit, placeOf)),
    decideApproval: (id, decision) => write((tables) => decideApproval(tables, id, decision)),
    takeApproved: (owner, tools) => writeByClock((tables) => takeApproved(tables, owner, tools)),
    expireApprovals: (holdMs) =>
      each(
        ({ operations }, after) => operations.overdueApprovals(after),
        (tables, id) => expireOne(tables, id, holdMs),
      ),

    get: (id) =>
      read(function* (tables) {
        const record = yield* tables.operations.look(id);
        return record && view(record, tables.now);
      }),
    list: (filter = {}) =>
      read(function* (tables) {
        const records = yield* tables.operations.list(filter);
        return records.map((record) => view(record, tables.now));
      }),
    count: (states) => read(({ operations }) => operations.count(states)),

    oldHashes: ({ accounts, tools, limit }) =>
      read(function* (tables) {
        const records = yield* tables.operations.oldHashes(accounts, tools, limit);
        return records.map((record) => view(record, tables.now));
      }),
    moveFree: (accounts, tools, to) =>
      write(({ operations }) => operations.moveFree(accounts, tools, to)),
    rehash: (id, to) => write((tables) => rehash(tables, id, to, placeOf)),

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
    markNotificationSent: (id) => write(({ notices }) => notices.told(id)),
    rescheduleNotification: (id, againInMs) =>
      write(({ notices, now }) => notices.defer(id, now + againInMs)),

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
      await write(function* ({ calls, limits, notices, owners }) {
        yield* calls.prune(settledBefore);
        yield* notices.prune();
        yield* limits.prune();
        yield* owners.prune(settledBefore);
      });
      return total;
    },
  };
}

function hashedSlotOf({ account, tool, dedupKey }: Act): string {
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

import { isExecutable } from '../../approvals/executable.js';
import type { OperationState } from '../../operation.js';
import {
  isHeldBy,
  isInFlight,
  isNear,
  isExpired,
  isSettled,
  type Wakeup,
  wakeupOf,
  openStep,
  type OperationRecord,
  type RecordChanges,
  unknownCursor,
} from '../record.js';
import { answer, type Script } from '../script.js';
import type { OperationFilter } from '../store.js';
import type { OperationsTable } from '../tables.js';

interface MemoryOperations extends OperationsTable {
  readonly has: (id: string) => boolean;
  /** Whether an operation or one of its steps refers to this owner. */
  readonly owns: (owner: string) => boolean;
}

interface OperationsDeps {
  readonly now: () => number;
  readonly isAlive: (owner: string) => boolean;
  readonly wake: (wakeup: Wakeup, id: string) => void;
  /** The number of settled operations without a held dedup key to keep. */
  readonly kept: number;
}

export function memoryOperations({ now, isAlive, wake, kept }: OperationsDeps): MemoryOperations {
  /** In order of creation. */
  const all = new Map<string, OperationRecord>();
  const holders = new Map<string, OperationRecord>();
  /** Executed, and undelivered when they were settled; `makeRoom` removes those that were delivered. */
  let undelivered: OperationRecord[] = [];
  /** By `contentDedupKey` and `editedDedupKey`. */
  const contents = new Map<string, OperationRecord | readonly OperationRecord[]>();
  const withSameContent = (content: string): readonly OperationRecord[] => {
    const found = contents.get(content);
    return found === undefined ? NONE : 'id' in found ? [found] : found;
  };
  const addContent = (content: string | undefined, record: OperationRecord): void => {
    if (content === undefined) return;
    // Usually there is one; an array for each would cost more than the rest of the claim.
    const records = contents.has(content) ? [...withSameContent(content), record] : record;
    contents.set(content, records);
  };
  const removeContent = (content: string | undefined, record: OperationRecord): void => {
    if (content === undefined) return;
    const found = contents.get(content);
    if (found === record) return void contents.delete(content);
    const left = withSameContent(content).filter((other) => other !== record);
    if (left.length === 0) contents.delete(content);
    else contents.set(content, left);
  };
  const forget = (record: OperationRecord): void => {
    const { id, scopedKey, secondaryDedupKey } = record;
    // A record that was pruned may still be queued, and must not remove the key of a later holder.
    if (!all.delete(id)) return;
    if (scopedKey !== undefined) holders.delete(scopedKey);
    if (secondaryDedupKey !== undefined) holders.delete(secondaryDedupKey);
    removeContent(record.contentDedupKey, record);
    removeContent(record.editedDedupKey, record);
  };
  const pruneSettled = (mayGo: (record: OperationRecord) => boolean, limit: number): number => {
    let count = 0;
    const time = now();
    for (const record of all.values()) {
      if (count === limit) break;
      if (!isSettled(record) || !mayGo(record)) continue;
      if (heldUntilOf(record) > time) continue;
      forget(record);
      count++;
    }
    return count;
  };
  const retention = retentionQueue<OperationRecord>(kept);
  let full = 2 * kept;
  /** Deletes the operations whose holds ended first. */
  const makeRoom = (): void => {
    const time = now();
    undelivered = undelivered.filter((record) => {
      // Queued since its delivery.
      if (!isUndelivered(record)) return false;
      if (heldUntilOf(record) > time) return true;
      retention.add(record, 0, time);
      return false;
    });
    for (const record of retention.take(time)) {
      // Its hold was extended by a further delivery after it was queued.
      const until = heldUntilOf(record);
      if (until > time) retention.add(record, record.windowMs ?? 0, until);
      else forget(record);
    }
    // A share of all, too, because this looks at all that are undelivered.
    full = all.size + Math.max(kept, all.size / 8);
  };
  /** Called every few seconds: a full scan is cheaper than maintaining an index on every change. */
  const inFlightIds = (matches: (owner: string) => boolean): readonly string[] =>
    [...all.values()]
      .filter((record) => isInFlight(record) && matches(record.owner!))
      .map(({ id }) => id);
  const waiting = (): readonly OperationRecord[] =>
    [...all.values()].filter(({ state }) => state === 'awaiting_approval');

  const insert = (record: OperationRecord): boolean => {
    const { scopedKey, secondaryDedupKey, contentDedupKey } = record;
    if (secondaryDedupKey !== undefined && holders.has(secondaryDedupKey)) return false;
    if (scopedKey !== undefined) {
      if (holders.has(scopedKey)) return false;
      holders.set(scopedKey, record);
    }
    if (secondaryDedupKey !== undefined) holders.set(secondaryDedupKey, record);
    addContent(contentDedupKey, record);
    all.set(record.id, record);
    if (all.size > full) makeRoom();
    return true;
  };

  return {
    has: (id) => all.has(id),
    owns: (owner) => {
      for (const record of all.values()) if (names(record, owner)) return true;
      return false;
    },
    get: (id) => answer(all.get(id)),
    getAll: (ids) => answer(ids.map((id) => all.get(id)).filter((record) => record !== undefined)),
    peek: (id) => answer(all.get(id)),
    held(fencingToken) {
      const record = all.get(fencingToken.id);
      return answer(
        isHeldBy(record, fencingToken) && isAlive(fencingToken.owner) ? record : undefined,
      );
    },
    holder: (scopedKey) => answer(holders.get(scopedKey)),

    lockContent: () => answer(undefined),
    withContent(content) {
      const holder = holders.get(content);
      const others = withSameContent(content);
      return answer(holder === undefined ? others : [holder, ...others]);
    },

    insert: (record) => answer(insert(record)),
    insertIfFree(record, content) {
      if (content !== undefined && content !== record.scopedKey && holders.has(content))
        return answer(false);
      if (content !== undefined && contents.has(content)) return answer(false);
      return isAlive(record.owner!) ? answer(insert(record)) : answer(false);
    },
    update(record: OperationRecord, changes: RecordChanges): Script<OperationRecord> {
      const { scopedKey, secondaryDedupKey, contentDedupKey, editedDedupKey } = record;
      const wasUndelivered = isUndelivered(record);
      const wasInFlight = isInFlight(record);
      const wasSettled = isSettled(record);
      // In place: records do not leave this module, and copies would dominate the cost.
      Object.assign(record, changes);
      if (scopedKey !== record.scopedKey || secondaryDedupKey !== record.secondaryDedupKey) {
        for (const former of [scopedKey, secondaryDedupKey])
          if (former !== undefined) holders.delete(former);
        for (const taken of [record.scopedKey, record.secondaryDedupKey]) {
          if (taken !== undefined) holders.set(taken, record);
        }
      }
      if (contentDedupKey !== record.contentDedupKey || editedDedupKey !== record.editedDedupKey) {
        for (const former of [contentDedupKey, editedDedupKey]) removeContent(former, record);
        for (const taken of [record.contentDedupKey, record.editedDedupKey])
          addContent(taken, record);
      }
      if (isSettled(record) && (!wasSettled || (wasUndelivered && !isUndelivered(record)))) {
        if (isUndelivered(record)) undelivered.push(record);
        else {
          const until = heldUntilOf(record);
          retention.add(record, Math.max(0, until - now()), until);
        }
      }
      const wakeup = wakeupOf(wasInFlight, record);
      if (wakeup !== undefined) wake(wakeup, record.id);
      return answer(record);
    },
    remove(record) {
      forget(record);
      wake('ended', record.id);
      return answer(undefined);
    },
    list(filter) {
      const ordered =
        filter.order === 'oldest' ? [...all.values()] : [...all.values()].toReversed();
      const start = filter.before === undefined ? 0 : 1 + positionOf(ordered, filter.before);
      const time = now();
      const found = ordered.slice(start).filter((record) => matches(record, filter, time));
      return answer(found.slice(0, filter.limit ?? 100));
    },
    // Records in memory always have current hashes.
    oldHashes: () => answer(NONE),
    moveFree: () => answer(undefined),
    takeOldHash: () => answer(false),
    count(states: readonly OperationState[]) {
      let count = 0;
      for (const { state } of all.values()) if (states.includes(state)) count++;
      return answer(count);
    },
    // The first page contains all of them.
    abandoned: (after) =>
      answer(after === undefined ? inFlightIds((owner) => !isAlive(owner)) : []),
    ownedBy: (wanted) => answer(inFlightIds((owner) => owner === wanted)),
    nextApproved(tools) {
      const time = now();
      const ready = waiting().filter((record) => isExecutable(record, tools, time));
      const [first] = ready.toSorted((a, b) => a.approval!.decidedAt! - b.approval!.decidedAt!);
      return answer(first);
    },
    undecided: (wanted) =>
      answer(
        waiting().filter(
          ({ account, approval }) =>
            (wanted === undefined || account === wanted) && approval?.decision === undefined,
        ).length,
      ),
    overdueApprovals(after) {
      if (after !== undefined) return answer([]);
      const time = now();
      const overdue = waiting().filter(
        ({ approval }) => approval !== undefined && approval.expiresAt <= time,
      );
      return answer(overdue.map(({ id }) => id));
    },
    prune(settledBefore, limit) {
      const open = [...all.values()].filter((record) => !isSettled(record));
      const isNeeded = (record: OperationRecord) =>
        record.outcome === 'executed' && open.some((other) => isNear(record, other));
      return answer(
        pruneSettled((record) => record.settledAt! < settledBefore && !isNeeded(record), limit),
      );
    },
  };
}

const NONE: readonly OperationRecord[] = [];

function isUndelivered({ windowMs, deliveredAt }: OperationRecord): boolean {
  return windowMs !== undefined && deliveredAt === undefined;
}

/** When the last of its holds ends. */
function heldUntilOf(record: OperationRecord): number {
  const { scopedKey, heldUntil, secondaryDedupKey, secondaryUntil, contentUntil } = record;
  return Math.max(
    scopedKey === undefined ? 0 : (heldUntil ?? Infinity),
    secondaryDedupKey === undefined ? 0 : (secondaryUntil ?? Infinity),
    contentUntil ?? 0,
  );
}

function names({ owner, steps }: OperationRecord, wanted: string): boolean {
  return owner === wanted || steps.some((step) => step.owner === wanted);
}

function positionOf(records: readonly OperationRecord[], id: string): number {
  const at = records.findIndex((record) => record.id === id);
  if (at < 0) throw unknownCursor(id);
  return at;
}

function matches(record: OperationRecord, filter: OperationFilter, now: number): boolean {
  const { states, tool, account, dedupKey, since, until, settledSince, holdsDedupKey } = filter;
  const { tools, owner, argsHash, stepOpen } = filter;
  return (
    (states === undefined || states.includes(record.state)) &&
    (tool === undefined || record.tool === tool) &&
    (tools === undefined || tools.includes(record.tool)) &&
    (owner === undefined || record.owner === owner) &&
    (argsHash === undefined || record.argsHash === argsHash) &&
    (stepOpen === undefined || stepOpen === (openStep(record) !== undefined)) &&
    (account === undefined || record.account === account) &&
    (filter.idPrefix === undefined || record.id.startsWith(filter.idPrefix)) &&
    (dedupKey === undefined ||
      (record.dedupKey.by === dedupKey.by && record.dedupKey.value === dedupKey.value)) &&
    (since === undefined || record.createdAt >= since) &&
    (until === undefined || record.createdAt < until) &&
    (settledSince === undefined || (record.settledAt ?? -1) >= settledSince) &&
    (filter.withoutDedupKey === undefined ||
      (record.scopedKey === undefined && record.contentDedupKey !== undefined)) &&
    (holdsDedupKey === undefined ||
      holdsDedupKey === (record.scopedKey !== undefined && !isExpired(record.heldUntil, now)))
  );
}

/** Settled operations in the order in which their holds end. */
interface RetentionQueue<T> {
  readonly add: (one: T, holdMs: number, heldUntil: number) => void;
  /** Removes and returns those whose holds have ended, except the newest `kept`. */
  readonly take: (now: number) => readonly T[];
}

interface Queue<T> {
  readonly items: T[];
  readonly ends: number[];
}

/**
 * Holds of equal length end in order of insertion, so a FIFO queue per length needs no search. There are
 * as many queues as distinct hold times: few.
 */
export function retentionQueue<T>(kept: number): RetentionQueue<T> {
  const queues = new Map<number, Queue<T>>();
  const free: T[] = [];

  return {
    add(one, holdMs, heldUntil) {
      let queue = queues.get(holdMs);
      if (queue === undefined) queues.set(holdMs, (queue = { items: [], ends: [] }));
      queue.items.push(one);
      queue.ends.push(heldUntil);
    },
    take(now) {
      for (const [holdMs, { items, ends }] of queues) {
        const held = ends.findIndex((end) => end > now);
        const count = held < 0 ? ends.length : held;
        // In place: a replaced array would keep its elements from being collected.
        for (const one of items.splice(0, count)) free.push(one);
        ends.splice(0, count);
        if (items.length === 0) queues.delete(holdMs);
      }
      return free.splice(0, Math.max(0, free.length - kept));
    },
  };
}

import {
  type AuditHead,
  type AuditRow,
  GENESIS,
  link,
  OPERATOR_KINDS,
  READ_BACK,
  toUnlinked,
} from '../../audit/chain.js';
import type { Owner } from '../../operation.js';
import { answer, type Script } from '../script.js';
import type { AuditEntry, Notification, StoredRecord, StoredRecordId } from '../store.js';
import type {
  AuditTable,
  Hit,
  LimitsTable,
  MetaTable,
  NotificationsTable,
  OwnersTable,
  RecordsTable,
} from '../tables.js';

interface MemoryOwners extends OwnersTable {
  readonly isAlive: (id: string) => boolean;
}

export function memoryOwners(now: () => number, ownsSome: (id: string) => boolean): MemoryOwners {
  const all = new Map<string, Owner & { readonly leaseUntil: number }>();
  const isAlive = (id: string): boolean => (all.get(id)?.leaseUntil ?? 0) > now();

  return {
    isAlive,
    get: (id) => answer(all.get(id)),
    alive: (id) => answer(isAlive(id)),
    anyWith: (tool) =>
      answer([...all.values()].some(({ id, tools }) => tools.includes(tool) && isAlive(id))),
    registerOwner(owner, leaseMs) {
      all.set(owner.id, { ...owner, leaseUntil: now() + leaseMs });
      return answer(undefined);
    },
    renew(id, leaseMs) {
      if (!isAlive(id)) return answer(false);
      all.set(id, { ...all.get(id)!, leaseUntil: now() + leaseMs });
      return answer(true);
    },
    deregisterOwner(id) {
      const owner = all.get(id);
      if (owner !== undefined)
        all.set(id, { ...owner, leaseUntil: Math.min(now(), owner.leaseUntil) });
      return answer(undefined);
    },
    prune(lapsedBefore) {
      for (const { id, leaseUntil } of all.values()) {
        if (leaseUntil < lapsedBefore && !ownsSome(id)) all.delete(id);
      }
      return answer(undefined);
    },
  };
}

export function memoryLimits(now: () => number): LimitsTable {
  /** Oldest first. */
  const counted = new Map<string, readonly Hit[]>();
  const live = (hits: readonly Hit[] = []): readonly Hit[] => {
    const time = now();
    return hits.filter(({ expiresAt }) => expiresAt > time);
  };
  const keep = (name: string, hits: readonly Hit[]): void => {
    if (hits.length === 0) counted.delete(name);
    else counted.set(name, hits);
  };

  return {
    lock: () => answer(now()),
    newest(name, n) {
      const hits = counted.get(name);
      return answer({ last: hits?.at(-1)?.at, nth: hits?.at(-n)?.at });
    },
    clampTo(name, to) {
      const hits = counted.get(name) ?? [];
      keep(
        name,
        hits.map((hit) =>
          hit.at > to ? { ...hit, at: to, expiresAt: hit.expiresAt - hit.at + to } : hit,
        ),
      );
      return answer(undefined);
    },
    add(hits) {
      for (const hit of hits) keep(hit.name, [...live(counted.get(hit.name)), hit]);
      return answer(undefined);
    },
    remove(operation, send) {
      for (const [name, hits] of counted) {
        keep(
          name,
          hits.filter((hit) => hit.operation !== operation || hit.send !== send),
        );
      }
      return answer(undefined);
    },
    prune() {
      for (const [name, hits] of counted) keep(name, live(hits));
      return answer(undefined);
    },
  };
}

const kinds: ReadonlySet<string> = new Set(OPERATOR_KINDS);

/** The number of rows to keep: the memory store must not grow without limit. */
const KEPT = 1000;

/** Rows are hashed when they are first read: hashing costs more than the rest of an operation. */
export function memoryAudit(now: () => number): AuditTable {
  let linked: AuditRow[] = [];
  let waiting: AuditEntry[] = [];
  let times: number[] = [];
  /** The last deleted row: its number, and its hash if it was ever computed. */
  let gone: AuditHead = GENESIS;

  const linkAll = (): readonly AuditRow[] => {
    for (const [index, entry] of waiting.entries()) {
      linked.push(link(linked.at(-1) ?? gone, toUnlinked(entry, times[index]!)));
    }
    waiting = [];
    times = [];
    if (linked.length > KEPT) {
      gone = linked.at(-KEPT - 1)!;
      linked = linked.slice(-KEPT);
    }
    return linked;
  };
  /** Rows that were never read are deleted without computing their hashes. */
  const makeRoom = (): void => {
    if (linked.length > 0 || gone.hash !== GENESIS.hash) return void linkAll();
    gone = { seq: gone.seq + waiting.length - KEPT, hash: GENESIS.hash };
    waiting.splice(0, waiting.length - KEPT);
    times.splice(0, times.length - KEPT);
  };

  return {
    append(entry) {
      waiting.push(entry);
      times.push(now());
      if (waiting.length > 2 * KEPT) makeRoom();
      return answer(undefined);
    },
    head() {
      const last = linkAll().at(-1);
      return answer(last && { seq: last.seq, hash: last.hash });
    },
    lastSeq: () => answer((linked.at(-1) ?? gone).seq + waiting.length),
    operatorAuditRows(from, limit) {
      const first = (linked.at(-1) ?? gone).seq + 1;
      const fresh = waiting.map((entry, index) => ({
        seq: first + index,
        ...toUnlinked(entry, times[index]!),
      }));
      const said = [...linked, ...fresh].filter(
        ({ seq, kind, actor }) => seq >= from && kinds.has(kind) && actor !== READ_BACK,
      );
      return answer(said.slice(0, limit));
    },
    rows(from, limit) {
      const rows = linkAll();
      const start = Math.max(0, from - (rows[0]?.seq ?? 1));
      return answer(rows.slice(start, start + limit));
    },
  };
}

export function memoryNotifications(
  now: () => number,
  exists: (operationId: string) => boolean,
): NotificationsTable {
  const all = new Map<string, Notification & { readonly dueAt: number }>();
  const change = (id: string, changes: Partial<Notification & { dueAt: number }>): Script<void> => {
    const notification = all.get(id);
    if (notification !== undefined) all.set(id, { ...notification, ...changes });
    return answer(undefined);
  };
  const idOf = (kind: Notification['kind'], operationId: string): string =>
    `${kind}:${operationId}`;
  const remove = (id: string): Script<void> => {
    all.delete(id);
    return answer(undefined);
  };

  return {
    add(kind, operationId) {
      const id = idOf(kind, operationId);
      if (!all.has(id)) all.set(id, { id, kind, operationId, at: now(), tries: 0, dueAt: now() });
      return answer(undefined);
    },
    due(limit) {
      const due = [...all.values()].filter(({ dueAt }) => dueAt <= now());
      const first = due.toSorted((a, b) => a.dueAt - b.dueAt).slice(0, limit);
      return answer(first.map(({ dueAt: _, ...notification }) => notification));
    },
    defer: (id, dueAt, tries) => change(id, tries === undefined ? { dueAt } : { dueAt, tries }),
    markSent: (id) => change(id, { dueAt: Infinity }),
    remove,
    withdraw: (kind, operationId) => remove(idOf(kind, operationId)),
    prune() {
      for (const { id, operationId } of all.values()) if (!exists(operationId)) all.delete(id);
      return answer(undefined);
    },
  };
}

export function memoryMeta(): MetaTable {
  const all = new Map<string, string>();
  return {
    get: (key) => answer(all.get(key)),
    init(key, value) {
      if (!all.has(key)) all.set(key, value);
      return answer(all.get(key)!);
    },
  };
}

export function memoryRecords(kept: number): RecordsTable {
  const all = new Map<string, StoredRecord>();
  const keyOf = ({ pack, kind, account, id }: StoredRecordId): string =>
    JSON.stringify([pack, kind, account, id]);
  const select = (filter: Parameters<RecordsTable['count']>[0]): StoredRecord[] => {
    const { pack, kind, account, subject, states, since = -Infinity, until = Infinity } = filter;
    return [...all.values()].filter(
      (record) =>
        record.pack === pack &&
        record.kind === kind &&
        record.account === account &&
        (subject === undefined || record.subject === subject) &&
        (states === undefined || (record.state !== undefined && states.includes(record.state))) &&
        record.at >= since &&
        record.at < until,
    );
  };
  const isBefore = (a: Pick<StoredRecord, 'at' | 'id'>, b: Pick<StoredRecord, 'at' | 'id'>) =>
    a.at < b.at || (a.at === b.at && a.id < b.id);
  const oldestFirst = (a: StoredRecord, b: StoredRecord): number => (isBefore(a, b) ? -1 : 1);

  return {
    get: (id) => answer(all.get(keyOf(id))),
    insert(record) {
      const key = keyOf(record);
      const isNew = !all.has(key);
      if (isNew) all.set(key, record);
      return answer(isNew);
    },
    replace(record, expected) {
      const key = keyOf(record);
      const isSame = all.get(key)?.version === expected;
      if (isSame) all.set(key, record);
      return answer(isSame);
    },
    list(query) {
      const { after, limit = 100, order } = query;
      const sorted = select(query).toSorted(oldestFirst);
      const ordered = order === 'oldest' ? sorted : sorted.toReversed();
      const rest = after
        ? ordered.filter((r) => (order === 'oldest' ? isBefore(after, r) : isBefore(r, after)))
        : ordered;
      return answer(rest.slice(0, Math.min(limit, 1000)));
    },
    count: (filter) => answer(select(filter).length),
    remove(id) {
      all.delete(keyOf(id));
      return answer(undefined);
    },
    trim(of) {
      const mine = select(of).filter(({ expiresAt }) => expiresAt !== undefined);
      for (const record of mine.toSorted(oldestFirst).slice(0, Math.max(0, mine.length - kept))) {
        all.delete(keyOf(record));
      }
      return answer(undefined);
    },
    prune(now) {
      for (const [key, { expiresAt = Infinity }] of all) if (expiresAt <= now) all.delete(key);
      return answer(undefined);
    },
  };
}

import { toUnlinked, type Unlinked } from '../../audit/chain.js';
import {
  isHeldBy,
  isInFlight,
  isSettled,
  type OperationRecord,
  type RecordChanges,
  type Wakeup,
  wakeupOf,
  withChanges,
} from '../record.js';
import { answer, type Query, runWithoutQueries, type Script } from '../script.js';
import { appendCall, appendValues } from '../sql/audit.js';
import { changedColumns } from '../sql/columns.js';
import type { Dialect } from '../sql/dialect.js';
import type { AuditEntry } from '../store.js';
import type { Tables } from '../tables.js';

/** An operation as this process last wrote it. */
export interface Remembered {
  readonly record: OperationRecord;
  /** The transaction that wrote it. Any later change, of whichever process, has another one. */
  readonly xid: number;
}

/** The operations in flight in this process. */
export interface Memory {
  readonly get: (id: string) => Remembered | undefined;
  /** Settled operations are forgotten. */
  readonly put: (record: OperationRecord, xid: number) => void;
  readonly forget: (id: string) => void;
}

/** Beyond that, the oldest are forgotten and read again when needed. */
const MAX_REMEMBERED = 10_000;

export function createMemory(max = MAX_REMEMBERED): Memory {
  const all = new Map<string, Remembered>();
  return {
    get: (id) => all.get(id),
    put: (record, xid) => {
      all.delete(record.id);
      if (!isInFlight(record)) return;
      all.set(record.id, { record, xid });
      if (all.size > max) all.delete(all.keys().next().value!);
    },
    forget: (id) => void all.delete(id),
  };
}

/** A transition that changes one operation, and appends one audit row unless it inserts the operation. */
export interface Plan<T> {
  readonly value: T;
  readonly after: OperationRecord;
  /** Undefined for an insert. */
  readonly changes: RecordChanges | undefined;
  readonly wakeup: Wakeup | undefined;
  /** One statement that makes the change, or does nothing if the assumptions no longer hold. */
  readonly query: () => Query;
  /** The same as a transaction of its own, which returns the `now` and `xid` of it. Undefined for an insert. */
  readonly alone?: () => Query;
}

/**
 * Runs a transition on what this process remembers of its operation, without a query. Undefined if the
 * transition needs to read more or has other effects. `now` may be an estimate: the statement uses the
 * time of its transaction, with which the plan is made again for its value.
 */
export function plan<T>(
  script: (tables: Tables) => Script<T>,
  now: number,
  dialect: Dialect,
  tables: Tables,
  remembered: Remembered | undefined,
): Plan<T> | undefined {
  let insert:
    | { readonly record: OperationRecord; readonly content: string | undefined }
    | undefined;
  let update: { readonly changes: RecordChanges; readonly after: OperationRecord } | undefined;
  let audit: Unlinked | undefined;
  let needsLease = false;

  const recall = (id: string): OperationRecord => {
    if (remembered?.record.id !== id) throw new NotPlanned();
    return remembered.record;
  };
  const operations: Partial<Tables['operations']> = {
    get: (id) => answer(recall(id)),
    held: (fencingToken) => {
      const record = recall(fencingToken.id);
      if (!isHeldBy(record, fencingToken)) throw new NotPlanned();
      needsLease = true;
      return answer(record);
    },
    insertIfFree: (record, content) => {
      insert = { record, content };
      return answer(true);
    },
    update: (record, changes) => {
      if (update !== undefined || record !== remembered?.record) throw new NotPlanned();
      if (!isChangeable(record, changes)) throw new NotPlanned();
      update = { changes, after: withChanges(record, changes) };
      return answer(update.after);
    },
  };
  const append = (entry: AuditEntry): Script<void> => {
    if (audit !== undefined) throw new NotPlanned();
    audit = toUnlinked(entry, now);
    return answer(undefined);
  };

  let value: T;
  try {
    value = runWithoutQueries(script(orNotPlanned({ now, operations, audit: { append } })));
  } catch (error) {
    if (error instanceof NotPlanned) return undefined;
    throw error;
  }
  if (insert !== undefined && update === undefined && audit === undefined) {
    const { record, content } = insert;
    const relative = { ...record, createdAt: record.createdAt - now };
    const query = (): Query =>
      tables.operations.insertIfFree(relative, content).next().value as Query;
    return { value, after: record, changes: undefined, wakeup: undefined, query };
  }
  if (insert !== undefined || update === undefined || audit === undefined) return undefined;
  const { changes, after } = update;
  // Only these can be recognised by their time if the answer of the server is lost.
  if (after.state !== 'sending' && !isSettled(after)) return undefined;
  const wakeup = wakeupOf(isInFlight(remembered!.record), after);
  const appended = audit;
  const queryOf = (isAlone: boolean) => (): Query =>
    compareAndSet(dialect, remembered!, relativeTo(now, changes), appended, needsLease, isAlone);
  return { value, after, changes, wakeup, query: queryOf(false), alone: queryOf(true) };
}

class NotPlanned extends Error {}

/** Every table and method that is not given throws when it is called. */
function orNotPlanned(given: object): Tables {
  return new Proxy(given, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (value === undefined) return orNotPlanned(notPlanned);
      return typeof value === 'object' ? orNotPlanned(value as object) : value;
    },
  }) as Tables;
}

function notPlanned(): never {
  throw new NotPlanned();
}

/** The members that transitions derive from the time at which they run, and their columns. */
const TIMES = {
  sendingAt: 'sending_at',
  settledAt: 'settled_at',
  heldUntil: 'held_until',
  secondaryUntil: 'secondary_until',
  contentUntil: 'content_until',
} as const satisfies Partial<Record<keyof RecordChanges, string>>;
const TIME_NAMES = Object.keys(TIMES) as readonly (keyof typeof TIMES)[];
const TIME_COLUMNS: ReadonlySet<string> = new Set(Object.values(TIMES));

/** The members that a plan may change: these, and others that do not depend on the time. */
const CHANGEABLE: ReadonlySet<string> = new Set<keyof RecordChanges>([
  ...TIME_NAMES,
  'state',
  'outcome',
  'answer',
  'code',
  'owner',
  'sends',
  'scopedKey',
  'secondaryDedupKey',
  'contentDedupKey',
  'editedDedupKey',
  'windowMs',
]);

function isChangeable(record: OperationRecord, changes: RecordChanges): boolean {
  return (Object.keys(changes) as (keyof RecordChanges)[]).every(
    (name) => CHANGEABLE.has(name) || record[name] === changes[name],
  );
}

function relativeTo(now: number, changes: RecordChanges): RecordChanges {
  const relative: { -readonly [K in keyof RecordChanges]: RecordChanges[K] } = { ...changes };
  for (const name of TIME_NAMES) {
    const time = relative[name];
    if (time !== undefined) relative[name] = time - now;
  }
  return relative;
}

/** The version of a row that a transaction has written. */
function rowVersion(xid: number): string {
  return String(xid % 2 ** 32);
}

/** By changed columns; there are about a dozen combinations. */
const texts = new Map<string, string>();

/**
 * Changes the operation and appends the audit row if the operation is still in the version that was
 * assumed. In a group, a row that another transaction has locked is left to the transition that waits for it.
 */
function compareAndSet(
  { prefix, clock, group }: Dialect,
  { record, xid }: Remembered,
  changes: RecordChanges,
  audit: Unlinked,
  needsLease: boolean,
  isAlone: boolean,
): Query {
  const { id, owner, fence, state } = record;
  const { names, values: changed } = changedColumns(changes, record);
  const appended = appendValues({ ...audit, at: 0 });
  const values = [id, owner, fence, state, rowVersion(xid), ...changed, ...appended];
  const key = `${prefix} ${needsLease} ${isAlone} ${names.join()}`;
  const wants = isAlone ? {} : ({ wants: 'count' } as const);
  const cached = texts.get(key);
  if (cached !== undefined) return { text: cached, values, ...wants };

  const start = isAlone ? '(SELECT now FROM begun)' : group!.start;
  const isSame = 'id = $1 AND owner = $2 AND fence = $3 AND state = $4 AND xmin = $5::xid';
  const isAlive = `EXISTS (SELECT 1 FROM ${prefix}owners l WHERE l.id = $2 AND l.lease_until > ${clock([])})`;
  const set = names.map((name, index) => {
    const value = `$${index + 6}`;
    return `${name} = ${TIME_COLUMNS.has(name) ? `${value} + ${start}` : value}`;
  });
  const table = `${prefix}operations`;
  const test = needsLease ? `${isSame} AND ${isAlive}` : isSame;
  const append = appendCall(prefix, names.length + 6, start);
  const text = isAlone
    ? `WITH begun AS MATERIALIZED (SELECT txid_current() AS xid, ${clock([])} AS now),
      done AS (UPDATE ${table} SET ${set.join(', ')} WHERE ${test} RETURNING id)
      SELECT begun.*, ${append} FROM done, begun`
    : `WITH held AS (SELECT id FROM ${table} WHERE ${test} FOR UPDATE SKIP LOCKED),
      done AS (UPDATE ${table} o SET ${set.join(', ')} FROM held WHERE o.id = held.id RETURNING o.id)
      SELECT ${append} FROM done`;
  texts.set(key, text);
  return { text, values, ...wants };
}

import { toUnlinked } from '../../audit/chain.js';
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
import { appendAlone, appendCall, appendValues } from '../sql/audit.js';
import { changedColumns, NAMED_COLUMNS, namedValues } from '../sql/columns.js';
import { contentLock, type Dialect } from '../sql/dialect.js';
import type { AuditEntry, FencingToken } from '../store.js';
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
  /** The same as a transaction of its own, which returns the `now` and `xid` of it. */
  readonly alone: (shard: number) => Query;
}

/** SQL for the start of a group's transaction, to which the times in its statements are relative. */
const GROUP_START = `current_setting('toolkeel.now')::bigint`;

/**
 * Runs a transition on what this process remembers of its operation, without a query. Undefined if the
 * transition needs to read more or has other effects. `now` may be an estimate: the statement uses the
 * time of its transaction, with which the plan is made again for its value.
 */
export function plan<T>(
  script: (tables: Tables) => Script<T>,
  now: number,
  dialect: Dialect,
  remembered: Remembered | undefined,
): Plan<T> | undefined {
  const tables = new PlannedTables(now, remembered);
  let value: T;
  try {
    value = runWithoutQueries(script(asTables(tables)));
  } catch (error) {
    if (error instanceof NotPlanned) return undefined;
    throw error;
  }
  const { inserted: insert, updated: update, needsLease } = tables.operations;
  const { entry } = tables.audit;
  if (insert !== undefined && update === undefined && entry === undefined) {
    const { record, content } = insert;
    const relative = { ...record, createdAt: record.createdAt - now };
    const queryOf = (isAlone: boolean) => (): Query =>
      insertIfFree(dialect, relative, content, isAlone);
    const [query, alone] = [queryOf(false), queryOf(true)];
    return { value, after: record, changes: undefined, wakeup: undefined, query, alone };
  }
  if (insert !== undefined || update === undefined || entry === undefined) return undefined;
  const { changes, after } = update;
  // Only these can be recognised by their time if the answer of the server is lost.
  if (after.state !== 'sending' && !isSettled(after)) return undefined;
  const wakeup = wakeupOf(isInFlight(remembered!.record), after);
  const query = (shard?: number): Query =>
    compareAndSet(dialect, remembered!, relativeTo(now, changes), entry, needsLease, shard);
  return { value, after, changes, wakeup, query: () => query(), alone: query };
}

class NotPlanned extends Error {}

function notPlanned(): never {
  throw new NotPlanned();
}

/** Replaces each table and method that plans do not have: throws when it is called. */
const MISSING: object = new Proxy(notPlanned, { get: () => MISSING });

class PlannedTables {
  readonly now: number;
  readonly operations: PlannedOperations;
  readonly audit = new PlannedAudit();

  constructor(now: number, remembered: Remembered | undefined) {
    this.now = now;
    this.operations = new PlannedOperations(remembered);
  }
}

/** Keeps what a transition would write. */
class PlannedOperations implements Pick<
  Tables['operations'],
  'get' | 'held' | 'insertIfFree' | 'update'
> {
  inserted: { readonly record: OperationRecord; readonly content: string | undefined } | undefined =
    undefined;
  updated: { readonly changes: RecordChanges; readonly after: OperationRecord } | undefined =
    undefined;
  needsLease = false;
  readonly remembered: Remembered | undefined;

  constructor(remembered: Remembered | undefined) {
    this.remembered = remembered;
  }

  get(id: string): Script<OperationRecord> {
    return answer(this.recall(id));
  }

  held(fencingToken: FencingToken): Script<OperationRecord> {
    const record = this.recall(fencingToken.id);
    if (!isHeldBy(record, fencingToken)) throw new NotPlanned();
    this.needsLease = true;
    return answer(record);
  }

  insertIfFree(record: OperationRecord, content: string | undefined): Script<boolean> {
    this.inserted = { record, content };
    return answer(true);
  }

  update(record: OperationRecord, changes: RecordChanges): Script<OperationRecord> {
    if (this.updated !== undefined || record !== this.remembered?.record) throw new NotPlanned();
    if (!isChangeable(record, changes)) throw new NotPlanned();
    this.updated = { changes, after: withChanges(record, changes) };
    return answer(this.updated.after);
  }

  private recall(id: string): OperationRecord {
    if (this.remembered?.record.id !== id) throw new NotPlanned();
    return this.remembered.record;
  }
}

class PlannedAudit implements Pick<Tables['audit'], 'append'> {
  entry: AuditEntry | undefined = undefined;

  append(entry: AuditEntry): Script<void> {
    if (this.entry !== undefined) throw new NotPlanned();
    this.entry = entry;
    return answer(undefined);
  }
}

// Only missing members reach the proxy, because a plan is made six times per operation.
for (const { prototype } of [PlannedTables, PlannedOperations, PlannedAudit])
  Object.setPrototypeOf(prototype, MISSING);

/** The tables that a transition sees: those of the plan, and `MISSING` for all others. */
function asTables(tables: object): Tables {
  return tables as Tables;
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

/** By variant and changed columns; there are about a dozen combinations. */
const texts = new Map<string, string>();

function cachedText(key: string, make: () => string): string {
  let text = texts.get(key);
  if (text === undefined) texts.set(key, (text = make()));
  return text;
}

/** Inserts an operation if its owner's lease is live and no other operation holds its keys or content. */
function insertIfFree(
  { prefix, clock }: Dialect,
  record: OperationRecord,
  content: string | undefined,
  isAlone: boolean,
): Query {
  const values = [
    ...namedValues(record),
    content,
    content === undefined ? undefined : contentLock(content),
  ];
  const text = cachedText(`${prefix} insert ${isAlone}`, () => {
    const of = (name: (typeof NAMED_COLUMNS)[number]): string =>
      `$${NAMED_COLUMNS.indexOf(name) + 1}`;
    const createdAt = of('created_at');
    const start = isAlone ? clock([]) : GROUP_START;
    const inserted = NAMED_COLUMNS.map(of).map((value) =>
      value === createdAt ? `${value} + ${start}` : value,
    );
    const last = NAMED_COLUMNS.length;
    const keys = [of('owner'), of('dedup_key'), of('secondary_dedup_key')];
    const test = `${prefix}may_claim(${keys.join(', ')}, $${last + 1}, $${last + 2})`;
    const returning = isAlone
      ? ` RETURNING txid_current() AS xid, created_at - ${createdAt} AS now`
      : '';
    return `INSERT INTO ${prefix}operations (${NAMED_COLUMNS.join(', ')}) SELECT ${inserted.join(', ')} WHERE ${test} ON CONFLICT DO NOTHING${returning}`;
  });
  return { text, values, ...(isAlone ? {} : COUNT) };
}

const COUNT = { wants: 'count' } as const;

/**
 * Changes the operation and appends the audit row if the operation is still in the version that was
 * assumed. In a group (without `shard`), a row that another transaction has locked is left to the
 * transition that waits for it.
 */
function compareAndSet(
  { prefix, clock }: Dialect,
  { record, xid }: Remembered,
  changes: RecordChanges,
  entry: AuditEntry,
  needsLease: boolean,
  shard: number | undefined,
): Query {
  const { id, owner, fence, state } = record;
  const { names, values: changed } = changedColumns(changes, record);
  const appended = appendValues(toUnlinked(entry, 0));
  const isAlone = shard !== undefined;
  const values = [id, owner, fence, state, rowVersion(xid), ...changed, ...appended];
  if (isAlone) values.push(shard);
  const text = cachedText(`${prefix} ${needsLease} ${isAlone} ${names.join()}`, () => {
    const start = isAlone ? 'begun.now' : GROUP_START;
    const isSame =
      'o.id = $1 AND o.owner = $2 AND o.fence = $3 AND o.state = $4 AND o.xmin = $5::xid';
    const liveOwner = `${prefix}owners l WHERE l.id = $2 AND l.lease_until > ${clock([])}`;
    const set = names
      .map((name, index) => {
        const value = `$${index + 6}`;
        return `${name} = ${TIME_COLUMNS.has(name) ? `${value} + ${start}` : value}`;
      })
      .join(', ');
    const table = `${prefix}operations`;
    const firstValue = names.length + 6;
    if (isAlone) {
      // Evaluated once. `OFFSET 0` keeps it a subquery; a CTE costs several times as much.
      const begun = `(SELECT ${clock([])} AS now${needsLease ? ` FROM ${liveOwner}` : ''} OFFSET 0) begun`;
      return `WITH done AS (UPDATE ${table} o SET ${set} FROM ${begun} WHERE ${isSame} RETURNING txid_current() AS xid, begun.now),
      ${appendAlone(prefix, firstValue, 'done')}
      SELECT xid, now FROM done`;
    }
    const test = needsLease ? `${isSame} AND EXISTS (SELECT 1 FROM ${liveOwner})` : isSame;
    return `WITH held AS (SELECT o.id FROM ${table} o WHERE ${test} FOR UPDATE SKIP LOCKED),
      done AS (UPDATE ${table} o SET ${set} FROM held WHERE o.id = held.id RETURNING o.id)
      SELECT ${appendCall(prefix, firstValue, start)} FROM done`;
  });
  return { text, values, ...(isAlone ? {} : COUNT) };
}

import { EXECUTABLE_ORDER, whereExecutable } from '../../approvals/executable.js';
import type { OperationState } from '../../operation.js';
import {
  withChanges,
  EARLIER_MS,
  IN_FLIGHT,
  isHeldBy,
  isInFlight,
  isSettled,
  LATER_MS,
  type Wakeup,
  wakeupOf,
  type OperationRecord,
  SETTLED,
  unknownCursor,
  UNSETTLED,
} from '../record.js';
import type { Script } from '../script.js';
import type { FencingToken, OperationFilter } from '../store.js';
import type { OperationsTable, OwnersTable } from '../tables.js';
import {
  changedColumns,
  columnsOf,
  NAMED_COLUMNS,
  namedValues,
  NEW_COLUMNS,
  newValues,
  toListedRecord,
  toRecord,
} from './columns.js';
import {
  bind,
  bindAll,
  contentLock,
  count,
  first,
  insertIf,
  rows,
  run,
  type Dialect,
} from './dialect.js';

/** A statement for the given SQL expression of the clock. */
type StatementByClock = (now: string) => string;

interface Inserts {
  readonly always: string;
  /** Only if the owner's lease is live and no other operation holds one of the keys. */
  readonly byOwner: StatementByClock;
  /** The same, and only if no other operation holds the content in the last value. */
  readonly unlessContent: StatementByClock;
  /** The same if the content is the dedup key. */
  readonly unlessOwnContent: StatementByClock;
}

export interface SqlDeps {
  readonly dialect: Dialect;
  /** Whether the transition writes, and so locks what it reads. */
  readonly writes: boolean;
  /** Wakes waiting callers after the commit. */
  readonly wake: (wakeup: Wakeup, id: string) => void;
  /** Called with each operation that is inserted or changed, and the id of one that is removed. */
  readonly onWrite?: (id: string, record: OperationRecord | undefined) => void;
}

const IN_FLIGHT_LIST = IN_FLIGHT.map((state) => `'${state}'`).join(', ');
const SETTLED_LIST = SETTLED.map((state) => `'${state}'`).join(', ');
const UNSETTLED_LIST = UNSETTLED.map((state) => `'${state}'`).join(', ');
const BATCH = 500;
const NONE: readonly OperationRecord[] = [];

/** `isNear` in SQL. */
const NEAR = `open.sending_at <= done.settled_at + ${EARLIER_MS} AND open.sending_at > done.created_at - ${LATER_MS}`;

export function sqlOperations(
  { dialect, writes, wake, onWrite = () => undefined }: SqlDeps,
  { alive }: Pick<OwnersTable, 'alive'>,
): OperationsTable {
  const { prefix, clock } = dialect;
  const table = `${prefix}operations`;
  const lock = writes ? dialect.lock : '';
  const isNeeded = `(outcome = 'executed' AND EXISTS (SELECT 1 FROM ${table} AS open WHERE open.settled_at IS NULL AND open.state IN (${UNSETTLED_LIST}) AND ${NEAR}))`;

  const columns = columnsOf(dialect);
  const select = `SELECT ${columns} FROM ${table} WHERE `;
  const byId = `${select}id = $1`;
  const byIdLocked = `${byId}${lock}`;
  const byIds =
    dialect.kind === 'sqlite'
      ? `${select}id IN (SELECT value FROM json_each($1))`
      : `${select}id IN (SELECT jsonb_array_elements_text($1::jsonb)) ORDER BY id COLLATE "C"${lock}`;
  const byDedupKey = `${select}(dedup_key = $1 OR secondary_dedup_key = $1)${lock}`;
  /** Conditions for holding this content; `now` is the SQL expression of the clock. */
  const contentTests = (content: string, now: string): readonly string[] => [
    `dedup_key = ${content}`,
    `secondary_dedup_key = ${content}`,
    ...['content_dedup_key', 'edited_dedup_key'].map(
      (column) => `${column} = ${content} AND (content_until IS NULL OR content_until > ${now})`,
    ),
  ];
  const byContent = cachedByClock((now) => {
    const tests = contentTests('$1', now).map((test) => `(${test})`);
    return `${select}(${tests.join(' OR ')})${lock}`;
  });
  const insertOf = (names: readonly string[], conflict: string): Inserts => {
    const values = names.map((_, index) => `$${index + 1}`).join(', ');
    const given = { columns: names, required: 'id' };
    const owner = `$${names.indexOf('owner') + 1}`;
    const isAlive = (now: string): string =>
      `EXISTS (SELECT 1 FROM ${prefix}owners WHERE id = ${owner} AND lease_until > ${now})`;
    const noneWith = (test: string): string => `NOT EXISTS (SELECT 1 FROM ${table} WHERE ${test})`;
    // The unique indexes compare only dedup keys with each other, and secondary ones.
    const areKeysFree = [
      noneWith(`secondary_dedup_key = $${names.indexOf('dedup_key') + 1}`),
      ...(names.includes('secondary_dedup_key')
        ? [noneWith(`dedup_key = $${names.indexOf('secondary_dedup_key') + 1}`)]
        : []),
    ];
    const content = `$${names.length + 1}`;
    const isContentFree = (now: string): readonly string[] =>
      contentTests(content, now).map(noneWith);
    const insertIfAll = (tests: (now: string) => readonly string[]): StatementByClock =>
      cachedByClock((now) =>
        insertIf(dialect, table, given, [isAlive(now), ...tests(now)].join(' AND ')),
      );
    return {
      always: `INSERT INTO ${table} (${names.join(', ')}) VALUES (${values}) ON CONFLICT ${conflict} DO NOTHING`,
      byOwner: insertIfAll(() => areKeysFree),
      unlessContent: insertIfAll((now) => [...areKeysFree, ...isContentFree(now)]),
      unlessOwnContent: insertIfAll(isContentFree),
    };
  };
  const insert = insertOf(NEW_COLUMNS, '(dedup_key)');
  const insertNamed = insertOf(NAMED_COLUMNS, '');
  const insertionOf = (record: OperationRecord): { text: Inserts; values: unknown[] } =>
    record.secondaryDedupKey === undefined && record.contentDedupKey === undefined
      ? { text: insert, values: newValues(record) }
      : { text: insertNamed, values: namedValues(record) };
  /** By changed columns; there are about a dozen combinations. */
  const updates = new Map<string, string>();
  const updateOf = (names: readonly string[]): string => {
    const key = names.join();
    let text = updates.get(key);
    if (text === undefined) {
      const set = names.map((name, index) => `${name} = $${index + 2}`).join(', ');
      text = `UPDATE ${table} SET ${set} WHERE id = $1`;
      updates.set(key, text);
    }
    return text;
  };

  const onInsert = (record: OperationRecord, inserted: number): boolean => {
    if (inserted > 0) onWrite(record.id, record);
    return inserted > 0;
  };

  function* one(text: string, values: readonly unknown[]): Script<OperationRecord | undefined> {
    const row = yield* first(text, values);
    return row && toRecord(row);
  }
  function* ids(
    where: string,
    given: readonly unknown[],
    after?: string,
  ): Script<readonly string[]> {
    const values = [...given];
    const beyond =
      after === undefined
        ? ''
        : ` AND seq > (SELECT seq FROM ${table} WHERE id = ${bind(values, after)})`;
    const found = yield* rows(
      `SELECT id FROM ${table} WHERE ${where}${beyond} ORDER BY seq LIMIT ${BATCH}`,
      values,
    );
    return found.map(({ id }) => id as string);
  }

  const byFencingToken = `${byId} AND owner = $2 AND fence = $3 AND EXISTS (SELECT 1 FROM ${prefix}owners l WHERE l.id = $2 AND l.lease_until > `;
  function* heldAtOnce({ id, owner, fence }: FencingToken): Script<OperationRecord | undefined> {
    const values: unknown[] = [id, owner, fence];
    return yield* one(`${byFencingToken}${clock(values)})`, values);
  }
  /** Checks the lease after the lock is acquired, which may take a while. */
  function* heldUnderLock(fencingToken: FencingToken): Script<OperationRecord | undefined> {
    const record = yield* one(byIdLocked, [fencingToken.id]);
    return isHeldBy(record, fencingToken) && (yield* alive(fencingToken.owner))
      ? record
      : undefined;
  }

  return {
    get: (id) => one(byIdLocked, [id]),
    *getAll(wanted) {
      return (yield* rows(byIds, [JSON.stringify(wanted)])).map(toRecord);
    },
    peek: (id) => one(byId, [id]),
    holder: (scopedKey) => one(byDedupKey, [scopedKey]),
    held: (fencingToken) =>
      dialect.kind === 'sqlite' ? heldAtOnce(fencingToken) : heldUnderLock(fencingToken),

    *lockContent(content) {
      if (dialect.kind === 'sqlite') return;
      yield* run(`SELECT pg_advisory_xact_lock($1::bigint)`, [contentLock(content)]);
    },

    *withContent(content) {
      const values: unknown[] = [content];
      const text = byContent(clock(values));
      // Usually there are none, and the SQLite drivers are faster if asked for a single row.
      if (dialect.kind === 'sqlite' && (yield* first(text, values)) === undefined) return NONE;
      return (yield* rows(text, values)).map(toRecord);
    },

    *insert(record) {
      const { text, values } = insertionOf(record);
      return onInsert(record, yield* count(text.always, values));
    },

    *insertIfFree(record, content) {
      const { text, values } = insertionOf(record);
      if (content !== undefined) values.push(content);
      const isOwn = content === record.scopedKey && record.secondaryDedupKey === undefined;
      const some = isOwn ? text.unlessOwnContent : text.unlessContent;
      const statement = content === undefined ? text.byOwner : some;
      const now = clock(values);
      return onInsert(record, yield* count(statement(now), values));
    },

    *update(record, changes) {
      const after = withChanges(record, changes);
      // SQLite updates the indexes of all assigned columns, even if unchanged. Its record is up to date.
      const before = dialect.kind === 'sqlite' ? record : undefined;
      const { names, values: changedTo } = changedColumns(changes, before);
      const wakeup = wakeupOf(isInFlight(record), after);
      if (wakeup !== undefined) wake(wakeup, record.id);
      if (names.length > 0) yield* run(updateOf(names), [record.id, ...changedTo]);
      onWrite(record.id, after);
      return after;
    },

    *remove({ id }) {
      wake('ended', id);
      yield* run(`DELETE FROM ${table} WHERE id = $1`, [id]);
      onWrite(id, undefined);
    },

    *list(filter) {
      const values: unknown[] = [];
      const where = conditions(filter, values, dialect);
      if (filter.before !== undefined) {
        const cursor = yield* first(`SELECT seq FROM ${table} WHERE id = $1`, [filter.before]);
        if (cursor === undefined) throw unknownCursor(filter.before);
        where.push(`seq ${filter.order === 'oldest' ? '>' : '<'} ${bind(values, cursor['seq'])}`);
      }
      const all = where.length === 0 ? '' : ` WHERE ${where.join(' AND ')}`;
      const limit = bind(values, filter.limit ?? 100);
      // `+seq` makes SQLite use the index on settled_at and sort, instead of scanning the table.
      const order = filter.settledSince === undefined ? 'seq' : '+seq';
      const found = yield* rows(
        `SELECT ${columns} FROM ${table}${all} ORDER BY ${order} ${filter.order === 'oldest' ? 'ASC' : 'DESC'} LIMIT ${limit}`,
        values,
      );
      return found.map(filter.damaged === 'shown' ? toListedRecord : toRecord);
    },

    *oldHashes(accounts, tools, limit) {
      const values: unknown[] = [];
      const of = `account IN (${bindAll(values, accounts)}) AND tool IN (${bindAll(values, tools)})`;
      const held = `(settled_at IS NULL OR held_until > ${clock(values)} OR secondary_until > ${clock(values)})`;
      const found = yield* rows(
        `SELECT ${columns} FROM ${table} WHERE hash_version < 2 AND ${of} AND ${held} ORDER BY CASE WHEN settled_at IS NULL THEN 0 ELSE 1 END, seq DESC LIMIT ${bind(values, limit)}`,
        values,
      );
      return found.map(toListedRecord);
    },

    *moveFree(accounts, tools, to) {
      const values: unknown[] = [to];
      const of = `account IN (${bindAll(values, accounts)}) AND tool IN (${bindAll(values, tools)})`;
      const isFree = (until: string) => `(${until} IS NULL OR ${until} <= ${clock(values)})`;
      const free = `settled_at IS NOT NULL AND ${isFree('held_until')} AND ${isFree('secondary_until')}`;
      yield* run(
        `UPDATE ${table} SET account = $1, dedup_key = NULL, secondary_dedup_key = NULL, hash_version = 2 WHERE hash_version < 2 AND ${of} AND ${free}`,
        values,
      );
    },

    *takeOldHash(id) {
      const text = `UPDATE ${table} SET hash_version = 2 WHERE id = $1 AND hash_version < 2`;
      return (yield* count(text, [id])) > 0;
    },

    *count(states) {
      const values: unknown[] = [];
      const where = inStates(states, values);
      const row = yield* first(`SELECT count(*) AS n FROM ${table} WHERE ${where}`, values);
      return row!['n'] as number;
    },

    *abandoned(after) {
      const values: unknown[] = [];
      const live = `SELECT id FROM ${prefix}owners WHERE lease_until > ${clock(values)}`;
      return yield* ids(`${inFlight} AND owner NOT IN (${live})`, values, after);
    },

    ownedBy: (owner) => ids(`${inFlight} AND owner = $1`, [owner]),

    *nextApproved(tools) {
      const unreadable: string[] = [];
      for (;;) {
        const values: unknown[] = [];
        const others =
          unreadable.length === 0 ? '' : ` AND id NOT IN (${bindAll(values, unreadable)})`;
        const where = `${whereExecutable(values, tools, clock)}${others}`;
        const row = yield* first(
          `${select}${where} ORDER BY ${EXECUTABLE_ORDER} LIMIT 1${dialect.skipLocked}`,
          values,
        );
        const found = row && toListedRecord(row);
        if (found?.damaged === undefined) return found;
        unreadable.push(found.id);
      }
    },

    *undecided(account) {
      const values: unknown[] = [];
      const of = account === undefined ? '' : ` AND account = ${bind(values, account)}`;
      const where = `${WAITING} AND approval_decision IS NULL${of}`;
      const row = yield* first(`SELECT count(*) AS n FROM ${table} WHERE ${where}`, values);
      return row!['n'] as number;
    },

    *overdueApprovals(after) {
      const values: unknown[] = [];
      return yield* ids(`${WAITING} AND approval_expires_at <= ${clock(values)}`, values, after);
    },

    *prune(settledBefore, limit) {
      const values: unknown[] = [];
      const old = `state IN (${SETTLED_LIST}) AND settled_at < ${bind(values, settledBefore)}`;
      const free = `(dedup_key IS NULL OR held_until <= ${clock(values)}) AND (secondary_dedup_key IS NULL OR secondary_until <= ${clock(values)}) AND (content_until IS NULL OR content_until <= ${clock(values)})`;
      const some = `SELECT seq FROM ${table} AS done WHERE ${old} AND ${free} AND NOT ${isNeeded} ORDER BY settled_at LIMIT ${bind(values, limit)}`;
      return (yield* rows(`DELETE FROM ${table} WHERE seq IN (${some}) RETURNING seq`, values))
        .length;
    },
  };
}

/** Rebuilds the statement only if the expression of the clock changes. */
function cachedByClock(make: StatementByClock): StatementByClock {
  let made: { readonly now: string; readonly text: string } | undefined;
  return (now) => (made?.now === now ? made : (made = { now, text: make(now) })).text;
}

/** Lets SQLite use the partial index of unsettled operations, which it cannot derive from the state. */
const OPEN = 'settled_at IS NULL';
const WAITING = `${OPEN} AND state = 'awaiting_approval'`;
const inFlight = `${OPEN} AND state IN (${IN_FLIGHT_LIST}) AND owner IS NOT NULL`;

function inStates(states: readonly OperationState[], values: unknown[]): string {
  const isAnySettled = states.some((state) => isSettled({ state }));
  return `${isAnySettled ? '' : `${OPEN} AND `}state IN (${bindAll(values, states)})`;
}

function conditions(filter: OperationFilter, values: unknown[], { clock }: Dialect): string[] {
  const { states, tool, tools, account, owner, idPrefix, dedupKey, argsHash, stepOpen } = filter;
  const { since, until, settledSince, holdsDedupKey } = filter;
  const where: string[] = [];
  if (states !== undefined) where.push(inStates(states, values));
  if (tool !== undefined) where.push(`tool = ${bind(values, tool)}`);
  if (tools !== undefined) where.push(`tool IN (${bindAll(values, tools)})`);
  if (owner !== undefined) where.push(`owner = ${bind(values, owner)}`);
  if (argsHash !== undefined) where.push(`args_hash = ${bind(values, argsHash)}`);
  // As written by JSON.stringify; names and results of steps contain no unescaped quotes.
  if (stepOpen !== undefined) {
    where.push(`steps ${stepOpen ? '' : 'NOT '}LIKE '%"state":"sending"%'`);
  }
  if (account !== undefined) where.push(`account = ${bind(values, account)}`);
  if (idPrefix !== undefined) {
    const length = Array.from(idPrefix).length;
    where.push(`substr(id, 1, ${length}) = ${bind(values, idPrefix)}`);
  }
  if (dedupKey !== undefined) {
    where.push(`dedup_key_by = ${bind(values, dedupKey.by)}`);
    where.push(`dedup_key_value = ${bind(values, dedupKey.value)}`);
  }
  if (since !== undefined) where.push(`created_at >= ${bind(values, since)}`);
  if (until !== undefined) where.push(`created_at < ${bind(values, until)}`);
  if (settledSince !== undefined) where.push(`settled_at >= ${bind(values, settledSince)}`);
  if (holdsDedupKey !== undefined) {
    const holds = `(dedup_key IS NOT NULL AND (held_until IS NULL OR held_until > ${clock(values)}))`;
    where.push(holdsDedupKey ? holds : `NOT ${holds}`);
  }
  if (filter.withoutDedupKey) where.push('dedup_key IS NULL AND content_dedup_key IS NOT NULL');
  return where;
}

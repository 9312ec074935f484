import { changed } from '../record.js';
import type { Script } from '../script.js';
import { IN_FLIGHT, newsOf, SETTLED } from '../states.js';
import type { OperationFilter } from '../store.js';
import type { OperationsTable } from '../tables.js';
import { unknownCursor } from '../unknown-cursor.js';
import { toColumns, toRecord } from './columns.js';
import { bind, bindAll, first, rows, run, type Dialect } from './dialect.js';

export interface SqlDeps {
  readonly dialect: Dialect;
  /** Whether what is read is going to be changed. */
  readonly writes: boolean;
  /** Adds to the statement what tells others, where the database does that; else remembers it. */
  readonly tell: (news: 'ended' | 'approved', id: string, values: unknown[]) => string;
}

const IN_FLIGHT_LIST = IN_FLIGHT.map((state) => `'${state}'`).join(', ');
const SETTLED_LIST = SETTLED.map((state) => `'${state}'`).join(', ');
const BATCH = 500;

export function sqlOperations({ dialect, writes, tell }: SqlDeps): OperationsTable {
  const { prefix, clock } = dialect;
  const table = `${prefix}operations`;
  const lock = writes ? dialect.lock : '';

  function* one(where: string, values: readonly unknown[], locked = lock) {
    const row = yield* first(`SELECT * FROM ${table} WHERE ${where}${locked}`, values);
    return row && toRecord(row);
  }
  function* ids(where: string, values: readonly unknown[]): Script<readonly string[]> {
    const found = yield* rows(
      `SELECT id FROM ${table} WHERE ${where} ORDER BY seq LIMIT ${BATCH}`,
      values,
    );
    return found.map(({ id }) => id as string);
  }

  return {
    get: (id) => one('id = $1', [id]),
    look: (id) => one('id = $1', [id], ''),
    holder: (slot) => one('slot = $1', [slot]),

    *insert(record) {
      const columns = toColumns(record);
      const values: unknown[] = [];
      const names = columns.map(([name]) => name).join(', ');
      const list = bindAll(
        values,
        columns.map(([, value]) => value),
      );
      const text = `INSERT INTO ${table} (${names}) VALUES (${list}) ON CONFLICT (slot) DO NOTHING RETURNING seq`;
      return (yield* first(text, values)) !== undefined;
    },

    *update(record, changes) {
      const after = changed(record, changes);
      const values: unknown[] = [record.id];
      const set = toColumns(changes).map(([name, value]) => `${name} = ${bind(values, value)}`);
      const news = newsOf(record, after);
      const told = news === undefined ? '' : tell(news, record.id, values);
      yield* run(`UPDATE ${table} SET ${set.join(', ')} WHERE id = $1${told}`, values);
      return after;
    },

    *list(filter) {
      const values: unknown[] = [];
      const where = conditions(filter, values, dialect);
      if (filter.before !== undefined) {
        const cursor = yield* first(`SELECT seq FROM ${table} WHERE id = $1`, [filter.before]);
        if (cursor === undefined) throw unknownCursor(filter.before);
        where.push(`seq < ${bind(values, cursor['seq'])}`);
      }
      const all = where.length === 0 ? '' : ` WHERE ${where.join(' AND ')}`;
      const limit = bind(values, filter.limit ?? 100);
      const found = yield* rows(
        `SELECT * FROM ${table}${all} ORDER BY seq DESC LIMIT ${limit}`,
        values,
      );
      return found.map(toRecord);
    },

    *count(states) {
      const values: unknown[] = [];
      const list = bindAll(values, states);
      const row = yield* first(
        `SELECT count(*) AS n FROM ${table} WHERE state IN (${list})`,
        values,
      );
      return row!['n'] as number;
    },

    *abandoned() {
      const values: unknown[] = [];
      const live = `SELECT id FROM ${prefix}owners WHERE lease_until > ${clock(values)}`;
      return yield* ids(`${inFlight} AND owner NOT IN (${live})`, values);
    },

    ownedBy: (owner) => ids(`${inFlight} AND owner = $1`, [owner]),

    *nextApproved(tools) {
      const values: unknown[] = [];
      const where = `state = 'awaiting_approval' AND approval_decision = 'approved' AND tool IN (${bindAll(values, tools)}) AND approval_expires_at > ${clock(values)} AND (rests_until IS NULL OR rests_until <= ${clock(values)})`;
      return yield* one(
        `${where} ORDER BY approval_decided_at, seq LIMIT 1`,
        values,
        dialect.lockFree,
      );
    },

    *overdueApprovals() {
      const values: unknown[] = [];
      return yield* ids(
        `state = 'awaiting_approval' AND approval_expires_at <= ${clock(values)}`,
        values,
      );
    },

    *prune(settledBefore, limit) {
      const values: unknown[] = [];
      const old = `state IN (${SETTLED_LIST}) AND settled_at < ${bind(values, settledBefore)}`;
      const free = `(slot IS NULL OR held_until <= ${clock(values)})`;
      const some = `SELECT seq FROM ${table} WHERE ${old} AND ${free} ORDER BY settled_at LIMIT ${bind(values, limit)}`;
      return (yield* rows(`DELETE FROM ${table} WHERE seq IN (${some}) RETURNING seq`, values))
        .length;
    },
  };
}

const inFlight = `state IN (${IN_FLIGHT_LIST}) AND owner IS NOT NULL`;

function conditions(filter: OperationFilter, values: unknown[], { clock }: Dialect): string[] {
  const { states, tool, account, identity, since, until, holdsSlot } = filter;
  const where: string[] = [];
  if (states !== undefined) where.push(`state IN (${bindAll(values, states)})`);
  if (tool !== undefined) where.push(`tool = ${bind(values, tool)}`);
  if (account !== undefined) where.push(`account = ${bind(values, account)}`);
  if (identity !== undefined) {
    where.push(`identity_by = ${bind(values, identity.by)}`);
    where.push(`identity_value = ${bind(values, identity.value)}`);
  }
  if (since !== undefined) where.push(`created_at >= ${bind(values, since)}`);
  if (until !== undefined) where.push(`created_at < ${bind(values, until)}`);
  if (holdsSlot !== undefined) {
    const holds = `(slot IS NOT NULL AND (held_until IS NULL OR held_until > ${clock(values)}))`;
    where.push(holdsSlot ? holds : `NOT ${holds}`);
  }
  return where;
}

import type { AuditRow } from '../../audit/chain.js';
import type { Row, Script } from '../script.js';
import type { Notification } from '../store.js';
import type { LimitsTable, MetaTable, NotificationsTable, OwnersTable, Tables } from '../tables.js';
import { sqlCalls, sqlProcesses } from './activity.js';
import { sqlAudit } from './audit.js';
import { bind, type Dialect, first, rows, run } from './dialect.js';
import { sqlOperations, type SqlDeps } from './operations.js';
import { sqlRecords } from './records.js';

interface SqlTablesOptions extends SqlDeps {
  /** The start of the transition. */
  readonly now: () => number;
  /** The number of calls to keep. */
  readonly calls: number;
  /** Called with the audit rows that this process links; PostgreSQL links them in the server. */
  readonly onAudit?: (row: AuditRow) => void;
}

/** Per pack, kind and account. */
const RECORDS_KEPT = 50_000;

/** The tables of a transition. SQLite, where transitions never overlap, uses one instance for all. */
export function sqlTables({ now, calls, onAudit, ...deps }: SqlTablesOptions): Tables {
  const { dialect } = deps;
  const owners = sqlOwners(dialect);
  return {
    get now() {
      return now();
    },
    operations: sqlOperations(deps, owners),
    owners,
    limits: sqlLimits(dialect, now),
    audit: sqlAudit(dialect, now, onAudit),
    notifications: sqlNotifications(dialect, now),
    calls: sqlCalls(dialect, calls),
    processes: sqlProcesses(dialect, now),
    meta: sqlMeta(dialect),
    records: sqlRecords({ dialect, writes: deps.writes, kept: RECORDS_KEPT }),
  };
}

function sqlOwners(dialect: Dialect): OwnersTable {
  const { prefix, clock } = dialect;
  const table = `${prefix}owners`;

  return {
    *get(id) {
      const row = yield* first(`SELECT * FROM ${table} WHERE id = $1`, [id]);
      return row && toOwner(row);
    },
    *alive(id) {
      const values: unknown[] = [id];
      const text = `SELECT 1 AS alive FROM ${table} WHERE id = $1 AND lease_until > ${clock(values)}`;
      return (yield* first(text, values)) !== undefined;
    },
    *anyWith(tool) {
      const values: unknown[] = [];
      const live = `SELECT tools FROM ${table} WHERE lease_until > ${clock(values)}`;
      const found = yield* rows(live, values);
      return found.some((row) => toolsOf(row).includes(tool));
    },
    *registerOwner({ id, host, pid, startedAt, tools }, leaseMs) {
      const values: unknown[] = [id, host, pid, startedAt, JSON.stringify(tools)];
      const until = `${clock(values)} + ${bind(values, leaseMs)}`;
      yield* run(
        `INSERT INTO ${table} (id, host, pid, started_at, tools, lease_until, beat_at) VALUES ($1, $2, $3, $4, $5, ${until}, ${clock(values)}) ON CONFLICT (id) DO UPDATE SET host = excluded.host, pid = excluded.pid, started_at = excluded.started_at, tools = excluded.tools, lease_until = excluded.lease_until, beat_at = excluded.beat_at`,
        values,
      );
    },
    *renew(id, leaseMs) {
      const values: unknown[] = [id];
      const until = `${clock(values)} + ${bind(values, leaseMs)}`;
      const text = `UPDATE ${table} SET lease_until = ${until}, beat_at = ${clock(values)} WHERE id = $1 AND lease_until > ${clock(values)} RETURNING id`;
      return (yield* first(text, values)) !== undefined;
    },
    *deregisterOwner(id) {
      const values: unknown[] = [id];
      const until = `CASE WHEN lease_until > ${clock(values)} THEN ${clock(values)} ELSE lease_until END`;
      yield* run(
        `UPDATE ${table} SET lease_until = ${until}, beat_at = NULL WHERE id = $1`,
        values,
      );
    },
    *prune(lapsedBefore) {
      const inside = dialect.kind === 'sqlite' ? 'instr' : 'strpos';
      const named = `${inside}(o.steps, '"owner":"' || ${table}.id || '"') > 0`;
      const open = `o.settled_at IS NULL AND (o.owner = ${table}.id OR ${named})`;
      yield* run(
        `DELETE FROM ${table} WHERE lease_until < $1 AND NOT EXISTS (SELECT 1 FROM ${prefix}operations o WHERE ${open})`,
        [lapsedBefore],
      );
    },
  };
}

function toolsOf(row: Row): readonly string[] {
  return JSON.parse(row['tools'] as string) as readonly string[];
}

function toOwner(row: Row) {
  return {
    id: row['id'] as string,
    host: row['host'] as string,
    pid: row['pid'] as number,
    startedAt: row['started_at'] as string,
    tools: toolsOf(row),
    leaseUntil: row['lease_until'] as number,
  };
}

function sqlLimits(dialect: Dialect, now: () => number): LimitsTable {
  const { prefix, clock } = dialect;
  const table = `${prefix}hits`;

  return {
    *lock(names) {
      if (dialect.kind === 'sqlite') return now();
      for (const name of names) {
        yield* run('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`${table}:${name}`]);
      }
      return (yield* first(`SELECT ${clock([])} AS now`))!['now'] as number;
    },
    *newest(name, n) {
      const row = yield* first(
        `SELECT (SELECT MAX(at) FROM ${table} WHERE name = $1) AS last,
          (SELECT at FROM ${table} WHERE name = $1 ORDER BY at DESC LIMIT 1 OFFSET $2) AS nth`,
        [name, n - 1],
      );
      const [last, nth] = [row?.['last'], row?.['nth']] as (number | null | undefined)[];
      return { last: last ?? undefined, nth: nth ?? undefined };
    },
    *clampTo(name, to) {
      yield* run(
        `UPDATE ${table} SET at = $2, expires_at = expires_at - at + $2 WHERE name = $1 AND at > $2`,
        [name, to],
      );
    },
    *add(hits) {
      for (const { name, at, expiresAt, operation, send } of hits) {
        yield* run(
          `INSERT INTO ${table} (name, at, expires_at, operation_id, send) VALUES ($1, $2, $3, $4, $5)`,
          [name, at, expiresAt, operation, send],
        );
      }
    },
    *remove(operation, send) {
      yield* run(`DELETE FROM ${table} WHERE operation_id = $1 AND send = $2`, [operation, send]);
    },
    *prune() {
      const values: unknown[] = [];
      yield* run(`DELETE FROM ${table} WHERE expires_at <= ${clock(values)}`, values);
    },
  };
}

function sqlNotifications(dialect: Dialect, now: () => number): NotificationsTable {
  const { prefix, clock, skipLocked } = dialect;
  const table = `${prefix}notifications`;

  const idOf = (kind: Notification['kind'], operationId: string): string =>
    `${kind}:${operationId}`;
  function* remove(id: string): Script<void> {
    yield* run(`DELETE FROM ${table} WHERE id = $1`, [id]);
  }

  return {
    *add(kind, operationId) {
      yield* run(
        `INSERT INTO ${table} (id, kind, operation_id, at, tries, due_at) VALUES ($1, $2, $3, $4, 0, $5) ON CONFLICT (id) DO NOTHING`,
        [idOf(kind, operationId), kind, operationId, now(), now()],
      );
    },
    *due(limit) {
      const values: unknown[] = [];
      const where = `due_at <= ${clock(values)} ORDER BY due_at, at LIMIT ${bind(values, limit)}`;
      const found = yield* rows(`SELECT * FROM ${table} WHERE ${where}${skipLocked}`, values);
      return found.map((row) => ({
        id: row['id'] as string,
        kind: row['kind'] as Notification['kind'],
        operationId: row['operation_id'] as string,
        at: row['at'] as number,
        tries: row['tries'] as number,
      }));
    },
    *defer(id, until, tries) {
      const set = tries === undefined ? '' : ', tries = $3';
      const values = tries === undefined ? [id, until] : [id, until, tries];
      yield* run(`UPDATE ${table} SET due_at = $2${set} WHERE id = $1`, values);
    },
    *markSent(id) {
      yield* run(`UPDATE ${table} SET due_at = NULL WHERE id = $1`, [id]);
    },
    remove,
    withdraw: (kind, operationId) => remove(idOf(kind, operationId)),
    *prune() {
      yield* run(
        `DELETE FROM ${table} WHERE operation_id NOT IN (SELECT id FROM ${prefix}operations)`,
      );
    },
  };
}

function sqlMeta({ prefix }: Dialect): MetaTable {
  const table = `${prefix}meta`;
  const select = `SELECT value FROM ${table} WHERE key = $1`;
  return {
    *get(key) {
      return (yield* first(select, [key]))?.['value'] as string | undefined;
    },
    *init(key, value) {
      yield* run(`INSERT INTO ${table} (key, value) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING`, [
        key,
        value,
      ]);
      return (yield* first(select, [key]))!['value'] as string;
    },
  };
}

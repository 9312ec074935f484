import type { Row } from '../script.js';
import type { OwnersTable } from '../tables.js';
import { bind, first, rows, run, type Dialect } from './dialect.js';

export function sqlOwners(dialect: Dialect): OwnersTable {
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

import type { LimitsTable } from '../tables.js';
import { first, run, type Dialect } from './dialect.js';

export function sqlLimits(dialect: Dialect, now: () => number): LimitsTable {
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
        `SELECT at FROM ${table} WHERE name = $1 ORDER BY at DESC LIMIT 1 OFFSET $2`,
        [name, n - 1],
      );
      return row?.['at'] as number | undefined;
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

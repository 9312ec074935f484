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
        `SELECT (SELECT MAX(at) FROM ${table} WHERE name = $1) AS last,
          (SELECT at FROM ${table} WHERE name = $1 ORDER BY at DESC LIMIT 1 OFFSET $2) AS nth`,
        [name, n - 1],
      );
      const [last, nth] = [row?.['last'], row?.['nth']] as (number | null | undefined)[];
      return { last: last ?? undefined, nth: nth ?? undefined };
    },
    *pullBack(name, to) {
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

import type { Script } from '../script.js';
import type { Notification } from '../store.js';
import type { NoticesTable } from '../tables.js';
import { bind, rows, run, type Dialect } from './dialect.js';

export function sqlNotices(dialect: Dialect, now: () => number): NoticesTable {
  const { prefix, clock, lockFree } = dialect;
  const table = `${prefix}notices`;

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
      const found = yield* rows(`SELECT * FROM ${table} WHERE ${where}${lockFree}`, values);
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
    *told(id) {
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

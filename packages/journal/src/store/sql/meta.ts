import type { MetaTable } from '../tables.js';
import { first, run, type Dialect } from './dialect.js';

export function sqlMeta({ prefix }: Dialect): MetaTable {
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

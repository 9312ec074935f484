/** One statement. `$1`, `$2`… stand for the values, also on SQLite, whose driver rewrites them. */
export interface Query {
  readonly text: string;
  readonly values: readonly unknown[];
}

export type Row = Readonly<Record<string, unknown>>;

/**
 * One transition, written once for all stores. It yields the statements that it needs and is given
 * their rows: run in one go where the store answers at once (memory, SQLite), awaited statement by
 * statement where it does not (PostgreSQL).
 */
export type Script<T> = Generator<Query, T, readonly Row[]>;

/** Runs a script whose tables answer by themselves. */
export function runWithoutQueries<T>(script: Script<T>): T {
  const { done, value } = script.next();
  if (done !== true) throw new TypeError(`nobody answers ${value.text}`);
  return value;
}

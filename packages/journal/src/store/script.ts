/** One statement. `$1`, `$2`… stand for the values, also on SQLite, whose driver rewrites them. */
export interface Query {
  readonly text: string;
  readonly values: readonly unknown[];
  /**
   * All rows by default; some drivers are quicker where the first is enough, or where there are none.
   * `count`: how many rows were changed, as one row.
   */
  readonly wants?: 'one' | 'none' | 'count';
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

/**
 * A script that is over before it begins. A generator would do, and costs several times as much: the
 * memory store has nothing else to say, a dozen times for each operation. Whoever asks takes the answer
 * at once, so that one is enough for all.
 */
export function answer<T>(value: T): Script<T> {
  given.value = value;
  return given as unknown as Script<T>;
}

class Answer {
  readonly done = true;
  value: unknown;

  [Symbol.iterator](): this {
    return this;
  }

  /** It is its own result. */
  next(): this {
    return this;
  }
}

const given = new Answer();

/** One SQL statement with the placeholders `$1`, `$2`…; the SQLite connection rewrites them. */
export interface Query {
  readonly text: string;
  readonly values: readonly unknown[];
  /**
   * Default: all rows. Some drivers are faster if only the first row, or none, is needed. `count`: the
   * number of changed rows, as one row.
   */
  readonly wants?: 'one' | 'none' | 'count';
}

export type Row = Readonly<Record<string, unknown>>;

/**
 * A transition, written once for all stores: it yields statements and receives their rows. Memory and
 * SQLite run it synchronously; PostgreSQL awaits each statement.
 */
export type Script<T> = Generator<Query, T, readonly Row[]>;

/** Runs a script over tables in memory, which yield no statements. */
export function runWithoutQueries<T>(script: Script<T>): T {
  const { done, value } = script.next();
  if (done !== true) throw new TypeError(`the memory store cannot run ${value.text}`);
  return value;
}

/**
 * A script that returns at once. The memory store needs a dozen of them per operation, and a generator
 * costs several times as much. The instance is shared: `yield*` reads the value before the next call.
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

  /** Implements iterator and result in one object. */
  next(): this {
    return this;
  }
}

const given = new Answer();

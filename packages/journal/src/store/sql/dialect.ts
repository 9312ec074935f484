import type { Query, Row, Script } from '../script.js';

/** The differences between the SQL of SQLite and PostgreSQL. */
export interface Dialect {
  readonly kind: 'sqlite' | 'postgres';
  /** Precedes every table name. */
  readonly prefix: string;
  /** SQL for the store's clock at the time of the statement; adds the value that it needs, if any. */
  readonly clock: (values: unknown[]) => string;
  /** Locks the row of a SELECT before an update; empty if there is a single writer. */
  readonly lock: string;
  /** The same for queues: skips locked rows. */
  readonly skipLocked: string;
  /** Whether rows are read as one JSON string, because the driver's cost grows with the number of columns. */
  readonly packsRows: boolean;
}

/** The id of PostgreSQL's advisory lock for a content key. */
export function contentLock(content: string): string {
  return BigInt.asIntN(64, BigInt(`0x${content.slice(0, 16)}`)).toString();
}

/** Adds a value and returns its placeholder. */
export function bind(values: unknown[], value: unknown): string {
  values.push(value);
  return `$${values.length}`;
}

/** For `IN`, which does not accept an empty list. */
export function bindAll(values: unknown[], items: readonly unknown[]): string {
  return items.length === 0 ? 'NULL' : items.map((item) => bind(values, item)).join(', ');
}

/**
 * An INSERT of one row that does nothing if `test` fails or the row conflicts with another. On SQLite an
 * `INSERT … SELECT` from the same table uses a temporary table; setting `required`, a NOT NULL column, to
 * NULL makes it ignore the row at less than half of the cost.
 */
export function insertIf(
  { kind }: Pick<Dialect, 'kind'>,
  table: string,
  { columns, required }: { readonly columns: readonly string[]; readonly required: string },
  test: string,
): string {
  const names = columns.join(', ');
  const values = columns.map((_, index) => `$${index + 1}`);
  if (kind !== 'sqlite') {
    return `INSERT INTO ${table} (${names}) SELECT ${values.join(', ')} WHERE ${test} ON CONFLICT DO NOTHING`;
  }
  const at = columns.indexOf(required);
  values[at] = `CASE WHEN ${test} THEN ${values[at]} END`;
  return `INSERT OR IGNORE INTO ${table} (${names}) VALUES (${values.join(', ')})`;
}

export function* rows(text: string, values: readonly unknown[] = []): Script<readonly Row[]> {
  const query: Query = { text, values };
  return yield query;
}

export function* first(text: string, values: readonly unknown[] = []): Script<Row | undefined> {
  const query: Query = { text, values, wants: 'one' };
  return (yield query)[0];
}

/** The number of changed rows; faster than returning them. */
export function* count(text: string, values: readonly unknown[]): Script<number> {
  const query: Query = { text, values, wants: 'count' };
  return (yield query)[0]!['changes'] as number;
}

export function* run(text: string, values: readonly unknown[] = []): Script<void> {
  const query: Query = { text, values, wants: 'none' };
  yield query;
}

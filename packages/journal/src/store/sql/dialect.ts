import type { Query, Row, Script } from '../script.js';

/** The few words in which SQLite and PostgreSQL differ. */
export interface Dialect {
  readonly kind: 'sqlite' | 'postgres';
  /** Stands before every name of a table. */
  readonly prefix: string;
  /** The store's clock in SQL at the moment of the statement; adds the value that it needs, if any. */
  readonly clock: (values: unknown[]) => string;
  /** Behind a SELECT of one row that is going to be changed; nothing where writers take turns. */
  readonly lock: string;
  /** The same, for queues: what somebody else has locked is passed over. */
  readonly skipLocked: string;
  /** Whether a row of many columns is read as one JSON text, because the driver charges by the column. */
  readonly packsRows: boolean;
}

/** The number under which PostgreSQL locks a content; SQLite and memory write one after the other anyway. */
export function contentLock(content: string): string {
  return BigInt.asIntN(64, BigInt(`0x${content.slice(0, 16)}`)).toString();
}

/** Adds a value and gives what stands for it. */
export function bind(values: unknown[], value: unknown): string {
  values.push(value);
  return `$${values.length}`;
}

/** For `IN`: no list is empty, because SQL has no such thing. */
export function bindAll(values: unknown[], items: readonly unknown[]): string {
  return items.length === 0 ? 'NULL' : items.map((item) => bind(values, item)).join(', ');
}

/**
 * An INSERT of one row, with a value for each column in their order, that inserts nothing unless the test
 * holds or where the row conflicts with another. SQLite copies what an `INSERT … SELECT` reads from its
 * own table; NULL for `required`, a column that is NOT NULL, makes it ignore the row at less than half
 * of the cost.
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

/** How many rows it changed; quicker than to have them returned. */
export function* count(text: string, values: readonly unknown[]): Script<number> {
  const query: Query = { text, values, wants: 'count' };
  return (yield query)[0]!['changes'] as number;
}

export function* run(text: string, values: readonly unknown[] = []): Script<void> {
  const query: Query = { text, values, wants: 'none' };
  yield query;
}

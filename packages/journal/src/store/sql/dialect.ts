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
  readonly lockFree: string;
  /** Whether a row of many columns is read as one JSON text, because the driver charges by the column. */
  readonly packs: boolean;
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

import type { Query, Row } from '../script.js';

/** One connection to one database file, answering at once. */
export interface SqliteDriver {
  readonly exec: (text: string) => void;
  /** `?` stands for the values, in their order. Statements are prepared once. */
  readonly rows: (
    text: string,
    values: readonly unknown[],
    wants?: Query['wants'],
  ) => readonly Row[];
  readonly inTransaction: () => boolean;
  readonly close: () => void;
}

export type OpenDriver = (path: string, busyMs: number) => SqliteDriver;

import type { Row } from '../script.js';

/** One connection to one database file, answering at once. */
export interface SqliteDriver {
  readonly exec: (text: string) => void;
  /** `?` stands for the values, in their order. Statements are prepared once. `isOne`: the first row is enough. */
  readonly rows: (text: string, values: readonly unknown[], isOne?: boolean) => readonly Row[];
  readonly inTransaction: () => boolean;
  readonly close: () => void;
}

export type OpenDriver = (path: string, busyMs: number) => SqliteDriver;

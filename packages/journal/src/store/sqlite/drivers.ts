import type { Query, Row } from '../script.js';
import { JournalError } from '../../error.js';

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

interface NodeStatement {
  all(...values: readonly unknown[]): unknown[];
  run(...values: readonly unknown[]): { readonly changes: number | bigint };
}

/** The part of `node:sqlite` that is used; the types of Node 20 do not have it. */
interface NodeSqlite {
  readonly DatabaseSync: new (
    path: string,
    options: { readonly timeout: number },
  ) => {
    readonly isTransaction?: boolean;
    exec(text: string): void;
    prepare(text: string): NodeStatement;
    close(): void;
  };
}

/** SQLite as Node brings it along, from 22.13 on. Undefined where this Node has none. */
export function nodeDriver(): OpenDriver | undefined {
  const sqlite = withoutWarning(() => process.getBuiltinModule('node:sqlite'));
  if (sqlite === undefined) return undefined;
  const { DatabaseSync } = sqlite as unknown as NodeSqlite;

  return function openWithNode(path, busyMs) {
    const db = new DatabaseSync(path, { timeout: busyMs });
    // Older versions of the module do not know that option.
    db.exec(`PRAGMA busy_timeout = ${busyMs}`);
    const prepared = new Map<string, NodeStatement>();
    return {
      exec: (text) => db.exec(text),
      rows: (text, values, wants) => {
        let statement = prepared.get(text);
        if (statement === undefined) prepared.set(text, (statement = db.prepare(text)));
        return wants === 'count' ? [statement.run(...values)] : (statement.all(...values) as Row[]);
      },
      inTransaction: () => db.isTransaction ?? true,
      close: () => db.close(),
    };
  };
}

/** It says of itself that it is experimental, on standard error, where a host shows it to people. */
function withoutWarning<T>(load: () => T): T {
  const emit = Reflect.get(process, 'emitWarning') as (...args: readonly unknown[]) => void;
  process.emitWarning = (...args: readonly unknown[]) => {
    if (!/sqlite/i.test(String(args[0]))) Reflect.apply(emit, process, args);
  };
  try {
    return load();
  } finally {
    process.emitWarning = emit;
  }
}

/** It takes the values one by one too, and is slower then. */
interface LibsqlStatement {
  all(values: readonly unknown[]): unknown[];
  get(values: readonly unknown[]): unknown;
  run(values: readonly unknown[]): { readonly changes: number };
}

const NONE: readonly Row[] = [];

/** SQLite for a Node that brings none along. Undefined where the optional package is not installed. */
export async function libsqlDriver(): Promise<OpenDriver | undefined> {
  const libsql = await import('libsql').catch(() => undefined);
  if (libsql === undefined) return undefined;
  const Database = libsql.default;

  return function openWithLibsql(path, busyMs) {
    const db = new Database(path, { timeout: busyMs });
    const prepared = new Map<string, LibsqlStatement>();
    return {
      exec: (text) => void db.exec(text),
      rows: (text, values, wants) => {
        let statement = prepared.get(text);
        if (statement === undefined) prepared.set(text, (statement = db.prepare(text)));
        if (wants === undefined) return statement.all(values) as Row[];
        if (wants !== 'one') return [statement.run(values)];
        const row = statement.get(values) as Row | undefined;
        return row === undefined ? NONE : [row];
      },
      inTransaction: () => db.inTransaction,
      close: () => {
        // A statement keeps the file open, and nothing but the garbage collector ends one.
        prepared.clear();
        db.close();
      },
    };
  };
}

/** Node's own, else the optional package. */
export async function chooseDriver(
  kinds: readonly (() => OpenDriver | undefined | Promise<OpenDriver | undefined>)[] = [
    nodeDriver,
    libsqlDriver,
  ],
): Promise<OpenDriver> {
  for (const find of kinds) {
    const driver = await find();
    if (driver !== undefined) return driver;
  }
  throw new JournalError(
    'unavailable',
    `The journal needs SQLite, and Node ${process.versions.node} has none: use Node 22.13 or newer, ` +
      'install the optional package libsql (npm install libsql@0.5.29), or set journal.url to ' +
      'postgres://… or memory:',
  );
}

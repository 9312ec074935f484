import { JournalError } from '../../error.js';
import type { Query, Row } from '../script.js';

/** A synchronous connection to one database file. */
export interface SqliteDriver {
  readonly exec: (text: string) => void;
  /** Runs a statement with the placeholders `?` or `?1`, `?2`…, prepared once. */
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

/** The part of `node:sqlite` in use; the types of Node 20 lack the module. */
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

/** The driver of Node.js 22.13 and newer; undefined on older versions. */
export function nodeDriver(): OpenDriver | undefined {
  const sqlite = withoutWarning(() => process.getBuiltinModule('node:sqlite'));
  if (sqlite === undefined) return undefined;
  const { DatabaseSync } = sqlite as unknown as NodeSqlite;

  return function openWithNode(path, busyMs) {
    const db = new DatabaseSync(path, { timeout: busyMs });
    // Older versions of the module ignore the `timeout` option.
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

/** Suppresses the experimental warning of `node:sqlite`, which MCP hosts show to users. */
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

/** Values are passed as one array, which is faster than separate arguments. */
interface LibsqlStatement {
  all(values: readonly unknown[]): unknown[];
  get(values: readonly unknown[]): unknown;
  run(values: readonly unknown[]): { readonly changes: number };
}

const NONE: readonly Row[] = [];

/** The driver of the optional package `libsql`; undefined if it is not installed. */
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
        // Statements keep the file open until they are garbage-collected.
        prepared.clear();
        db.close();
      },
    };
  };
}

/** Selects `node:sqlite` if available, else `libsql`. */
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
    `The journal needs SQLite, which Node ${process.versions.node} lacks: use Node 22.13 or newer, ` +
      'install the optional package libsql (npm install libsql@0.5.29), or set journal.url to ' +
      'postgres://… or memory:',
  );
}

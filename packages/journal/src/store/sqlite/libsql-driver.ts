import type { Row } from '../script.js';
import type { OpenDriver } from './driver.js';

/** It takes the values one by one too, and is slower then. */
interface Statement {
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
    const prepared = new Map<string, Statement>();
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

import type { Row } from '../script.js';
import type { OpenDriver } from './driver.js';

interface Statement {
  all(...values: readonly unknown[]): unknown[];
  get(...values: readonly unknown[]): unknown;
}

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
      rows: (text, values, isOne = false) => {
        let statement = prepared.get(text);
        if (statement === undefined) prepared.set(text, (statement = db.prepare(text)));
        if (!isOne) return statement.all(...values) as Row[];
        const row = statement.get(...values) as Row | undefined;
        return row === undefined ? [] : [row];
      },
      inTransaction: () => db.inTransaction,
      close: () => void db.close(),
    };
  };
}

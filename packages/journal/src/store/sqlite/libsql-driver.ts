import type { Row } from '../script.js';
import type { OpenDriver } from './driver.js';

/** SQLite for a Node that brings none along. Undefined where the optional package is not installed. */
export async function libsqlDriver(): Promise<OpenDriver | undefined> {
  const libsql = await import('libsql').catch(() => undefined);
  if (libsql === undefined) return undefined;
  const Database = libsql.default;

  return function openWithLibsql(path, busyMs) {
    const db = new Database(path, { timeout: busyMs });
    const prepared = new Map<string, { all(...values: readonly unknown[]): unknown[] }>();
    return {
      exec: (text) => void db.exec(text),
      rows: (text, values) => {
        let statement = prepared.get(text);
        if (statement === undefined) prepared.set(text, (statement = db.prepare(text)));
        return statement.all(...values) as Row[];
      },
      inTransaction: () => db.inTransaction,
      close: () => void db.close(),
    };
  };
}

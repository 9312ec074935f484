import type { Row } from '../script.js';
import type { OpenDriver } from './driver.js';

interface Statement {
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
    prepare(text: string): Statement;
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
    const prepared = new Map<string, Statement>();
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

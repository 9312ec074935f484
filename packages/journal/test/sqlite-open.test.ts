import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { chooseDriver } from '../src/store/sqlite/choose-driver.js';
import type { OpenDriver, SqliteDriver } from '../src/store/sqlite/driver.js';
import { sqliteStore } from '../src/store/sqlite/store.js';

describe('opening a journal in SQLite', () => {
  let dir: string;
  let path: string;
  let open: OpenDriver;
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'toolkeel-open-'));
    path = join(dir, 'journal.db');
    open = await chooseDriver();
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  /** Locks the file against readers as well. */
  const held = (): SqliteDriver => {
    const other = open(path, 1000);
    other.exec('BEGIN EXCLUSIVE');
    return other;
  };

  test('waits for a process that has locked the whole file', async () => {
    const other = held();
    const opening = sqliteStore({ path });
    const late = setTimeout(() => other.exec('ROLLBACK'), 300);
    const store = await opening.finally(() => clearTimeout(late));
    other.close();
    expect(await store.count(['claimed'])).toBe(0);
    await store.close();
  });

  test('gives up in time, and says why', async () => {
    const other = held();
    const failed = await sqliteStore({ path, patienceMs: 200 }).catch((error: unknown) => error);
    other.close();
    expect(failed).toMatchObject({ name: 'JournalError', reason: 'unavailable' });
    expect(String(failed)).toMatch(/was locked by another process for 0\.\d s/);
  });

  test('uses synchronous=FULL and a write-ahead log', async () => {
    let driver: SqliteDriver | undefined;
    const store = await sqliteStore({ path, driver: (...given) => (driver = open(...given)) });
    const setting = (name: string) => Object.values(driver!.rows(`PRAGMA ${name}`, [])[0]!)[0];
    expect([setting('synchronous'), setting('journal_mode')]).toEqual([2, 'wal']);
    await store.close();
  });
});

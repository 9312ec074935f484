import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { chooseDriver, libsqlDriver, nodeDriver } from './drivers.js';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const hasSqlite = major > 22 || (major === 22 && minor >= 13);

describe('the SQLite driver', () => {
  test('is that of Node.js if available, without its warning', async () => {
    const warnings: unknown[] = [];
    const note = (warning: unknown): void => void warnings.push(warning);
    process.on('warning', note);
    expect(nodeDriver() !== undefined).toBe(hasSqlite);
    await new Promise((resolve) => setTimeout(resolve, 0));
    process.off('warning', note);
    expect(warnings).toEqual([]);
    // Other warnings are still emitted.
    expect(process.emitWarning.name).toBe('emitWarning');
  });

  test('is the optional package otherwise', async () => {
    const driver = await chooseDriver();
    expect(driver.name).toBe(hasSqlite ? 'openWithNode' : 'openWithLibsql');
    expect(await libsqlDriver()).toBeDefined();
  });

  test('is refused with installation advice if there is none', async () => {
    const none = chooseDriver([() => undefined, async () => undefined]);
    await expect(none).rejects.toMatchObject({ name: 'JournalError', reason: 'unavailable' });
    await expect(none).rejects.toThrow('npm install libsql@0.5.29');
  });

  test('stores committed data and rolls back the rest', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'toolkeel-driver-'));
    const open = await chooseDriver();
    const driver = open(join(dir, 'test.db'), 100);
    driver.exec('CREATE TABLE t (a TEXT, b INTEGER, c REAL)');
    const values = ['ö', Date.UTC(2026, 0, 1), 0.5];
    expect(driver.rows('INSERT INTO t VALUES (?, ?, ?) RETURNING a', values)).toMatchObject([
      { a: 'ö' },
    ]);
    expect(driver.inTransaction()).toBe(false);
    driver.exec('BEGIN IMMEDIATE');
    expect(driver.inTransaction()).toBe(true);
    expect(driver.rows('DELETE FROM t', [])).toEqual([]);
    driver.exec('ROLLBACK');
    expect(driver.rows('SELECT * FROM t WHERE b = ?', [values[1]])).toMatchObject([
      { a: 'ö', b: values[1], c: 0.5 },
    ]);
    driver.close();
    rmSync(dir, { recursive: true });
  });
});

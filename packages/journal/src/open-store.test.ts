import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openStore } from './open-store.js';

describe('opening a store by URL', () => {
  let dataDir: string;
  beforeEach(() => void (dataDir = mkdtempSync(join(tmpdir(), 'toolkeel-open-'))));
  afterEach(() => rmSync(dataDir, { recursive: true }));

  test('memory:', async () => {
    expect((await openStore('memory:', { dataDir })).kind).toBe('memory');
  });

  test.each([
    ['sqlite:journal.db', 'journal.db'],
    ['SQLITE:deep/er/journal.db', 'deep/er/journal.db'],
    ['sqlite://journal.db', 'journal.db'],
  ])('%s is relative to the data directory', async (url, path) => {
    const store = await openStore(url, { dataDir });
    expect(store.kind).toBe('sqlite');
    await store.close();
    expect(statSync(join(dataDir, path)).mode & 0o777).toBe(0o600);
  });

  test('sqlite: with an absolute path', async () => {
    for (const slashes of ['', '//']) {
      const path = join(dataDir, `there${slashes.length}.db`);
      await (await openStore(`sqlite:${slashes}${path}`, { dataDir: '/nowhere' })).close();
      expect(statSync(path).isFile()).toBe(true);
    }
  });

  test.each([
    ['', 'names no kind of store'],
    ['journal.db', 'names no kind of store'],
    ['sqlite:', 'names no file'],
    ['sqlite://', 'names no file'],
    ['sqlite::memory:', 'use memory: for'],
    ['sqlite:journal.db?mode=ro', 'takes no options'],
    ['memory:shared', 'memory: takes no path'],
    ['mysql://root:hunter2@localhost/db', 'unknown kind of store "mysql"'],
    ['postgres://user:hunter2@ho st/db', 'not a valid URL'],
    ['postgres://user:hunter2@localhost/db?schema=Bad-Name', 'names the schema "Bad-Name"'],
  ])('%j is refused', async (url, why) => {
    const error: unknown = await openStore(url, { dataDir }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'JournalError', reason: 'invalid' });
    expect(String(error)).toContain(why);
    expect(String(error)).not.toContain('hunter2');
  });
});

import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { memoryStore } from '../store/memory/store.js';
import type { JournalStore } from '../store/store.js';
import { openEncryption } from './encryption.js';
import { createKey } from './key-file.js';

describe('the key file of a journal', () => {
  let root: string;
  let dir: string;
  let store: Pick<JournalStore, 'kind' | 'meta' | 'initMeta'>;
  const file = () => join(dir, 'journal.key');

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'toolkeel-key-'));
    dir = join(root, 'data');
    store = { ...memoryStore(), kind: 'sqlite' };
  });
  afterEach(() => rmSync(root, { recursive: true }));

  test('is created with the journal, readable by its user only, and reused', async () => {
    const first = await openEncryption(store, dir);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(readdirSync(dir)).toEqual(['journal.key']);
    const again = await openEncryption(store, dir);
    expect(again.decrypt(first.encrypt('a', 'x'), 'x')).toBe('a');
  });

  test('is created once by concurrent processes', () => {
    mkdirSync(dir);
    expect(createKey(dir)).toEqual(createKey(dir));
  });

  test('is rejected with advice if other users can read it', async () => {
    await openEncryption(store, dir);
    for (const mode of [0o644, 0o640, 0o604]) {
      chmodSync(file(), mode);
      await expect(openEncryption(store, dir)).rejects.toThrow(`Run: chmod 600 ${file()}`);
    }
  });

  test('is not recreated for a journal that has a key', async () => {
    const { keyId } = await openEncryption(store, dir);
    rmSync(file());
    await expect(openEncryption(store, dir)).rejects.toMatchObject({ reason: 'key' });
    await expect(openEncryption(store, dir)).rejects.toThrow(keyId);
    expect(readdirSync(dir)).toEqual([]);
  });

  test('of another journal is rejected', async () => {
    await openEncryption(store, dir);
    rmSync(file());
    createKey(dir);
    await expect(openEncryption(store, dir)).rejects.toThrow('is encrypted with the key');
  });

  test('without a valid key is rejected, and its contents are not shown', async () => {
    mkdirSync(dir);
    for (const text of [
      '',
      'toolkeel-key-1 hunter2',
      'hunter2',
      `toolkeel-key-2 ${'A'.repeat(43)}`,
    ]) {
      writeFileSync(file(), text, { mode: 0o600 });
      const error: unknown = await openEncryption(store, dir).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ reason: 'key' });
      expect(String(error)).not.toContain('hunter2');
    }
    rmSync(file());
    mkdirSync(file(), { mode: 0o700 });
    await expect(openEncryption(store, dir)).rejects.toThrow('cannot be read (EISDIR)');
  });

  test('cannot be created in a path that is not a directory', async () => {
    writeFileSync(dir, '');
    await expect(openEncryption(store, dir)).rejects.toMatchObject({ reason: 'key' });
  });

  test('is not created for a journal in memory', async () => {
    const { encrypt, decrypt } = await openEncryption(memoryStore(), dir);
    expect(decrypt(encrypt('a', 'x'), 'x')).toBe('a');
    expect(readdirSync(root)).toEqual([]);
  });

  test('is referenced in the journal only by its id', async () => {
    const { keyId } = await openEncryption(store, dir);
    expect(await store.meta('sealing_key_id')).toBe(keyId);
    expect(readFileSync(file(), 'utf8')).not.toContain(keyId);
  });
});

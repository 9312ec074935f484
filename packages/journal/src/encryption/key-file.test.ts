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
import { createKey } from './key-file.js';
import { openEncryption } from './encryption.js';

describe('the key of a journal', () => {
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

  test('is made with the journal, for its user’s eyes only, and found again', async () => {
    const first = await openEncryption(store, dir);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(readdirSync(dir)).toEqual(['journal.key']);
    const again = await openEncryption(store, dir);
    expect(again.decrypt(first.encrypt('a', 'x'), 'x')).toBe('a');
  });

  test('is one key, however many make it at once', () => {
    mkdirSync(dir);
    expect(createKey(dir)).toEqual(createKey(dir));
  });

  test('that others can read is refused, with what to do', async () => {
    await openEncryption(store, dir);
    for (const mode of [0o644, 0o640, 0o604]) {
      chmodSync(file(), mode);
      await expect(openEncryption(store, dir)).rejects.toThrow(`Run: chmod 600 ${file()}`);
    }
  });

  test('that is missing is not made anew for a journal that has one', async () => {
    const { keyId } = await openEncryption(store, dir);
    rmSync(file());
    await expect(openEncryption(store, dir)).rejects.toMatchObject({ reason: 'key' });
    await expect(openEncryption(store, dir)).rejects.toThrow(keyId);
    expect(readdirSync(dir)).toEqual([]);
  });

  test('of another journal is refused', async () => {
    await openEncryption(store, dir);
    rmSync(file());
    createKey(dir);
    await expect(openEncryption(store, dir)).rejects.toThrow('is sealed with the key');
  });

  test('that is not a key is refused, and never shown', async () => {
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

  test('cannot be made where there is no place for it', async () => {
    writeFileSync(dir, '');
    await expect(openEncryption(store, dir)).rejects.toMatchObject({ reason: 'key' });
  });

  test('of a journal in memory lives as long as that', async () => {
    const { encrypt, decrypt } = await openEncryption(memoryStore(), dir);
    expect(decrypt(encrypt('a', 'x'), 'x')).toBe('a');
    expect(readdirSync(root)).toEqual([]);
  });

  test('does not stand in the journal', async () => {
    const { keyId } = await openEncryption(store, dir);
    expect(await store.meta('sealing_key_id')).toBe(keyId);
    expect(readFileSync(file(), 'utf8')).not.toContain(keyId);
  });
});

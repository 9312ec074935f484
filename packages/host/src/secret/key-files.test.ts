import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { HostLog } from '../log/log.js';
import { persistentKey, persistentPageTokens } from './key-files.js';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'toolkeel-key-'));
});

afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

describe('a persistent key', () => {
  it('is created once and then read, and only its owner can read it', () => {
    const deep = join(dir, 'not', 'there', 'yet');
    const key = persistentKey(deep, 'k');
    expect(key).toHaveLength(32);
    expect(persistentKey(deep, 'k')).toEqual(key);
    expect(persistentKey(dir, 'k')).not.toEqual(key);
    expect(readdirSync(deep)).toEqual(['k']);
    if (process.platform !== 'win32') expect(statSync(join(deep, 'k')).mode & 0o777).toBe(0o600);
  });

  it('is rejected if it is too short, and not replaced', () => {
    writeFileSync(join(dir, 'k'), 'short', { mode: 0o600 });
    expect(() => persistentKey(dir, 'k')).toThrow(/does not contain a key\. Remove it/);
  });

  it.skipIf(process.platform === 'win32')('is rejected if other users can read it', () => {
    writeFileSync(join(dir, 'k'), 'x'.repeat(60), { mode: 0o644 });
    expect(() => persistentKey(dir, 'k')).toThrow(/mode 644/);
  });
});

describe('persistent page tokens', () => {
  const binding = { tool: 't', account: 'a', args: {} };

  it('stay valid after a restart, for every process that shares the directory', () => {
    const data = join(dir, 'data');
    const [before, after] = [
      persistentPageTokens(data, () => {}),
      persistentPageTokens(data, () => {}),
    ];
    expect(existsSync(data)).toBe(false); // no token has been needed yet
    const token = before.encode(binding, { page: 2 });
    expect(after.decode(binding, token)).toEqual({ ok: true, cursor: { page: 2 } });
    expect(persistentPageTokens(join(dir, 'other'), () => {}).decode(binding, token).ok).toBe(
      false,
    );
  });

  it('are valid until the process exits if the key cannot be stored, with a warning', () => {
    const file = join(dir, 'file');
    writeFileSync(file, '');
    const log = vi.fn<HostLog>();
    const tokens = persistentPageTokens(join(file, 'data'), log);
    expect(tokens.decode(binding, tokens.encode(binding, 1))).toEqual({ ok: true, cursor: 1 });
    expect(log.mock.calls.map(([level, event]) => [level, event])).toEqual([
      ['warn', 'page_tokens_not_kept'],
    ]);
  });
});

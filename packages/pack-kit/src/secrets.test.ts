import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ConfigError, readSecret } from './secrets.js';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

describe('secrets', () => {
  it('come from the environment, with a prefix', () => {
    expect(readSecret({ env: 'T', prefix: 'Bearer ' }, 'x', { T: 'abc' })).toBe('Bearer abc');
    expect(() => readSecret({ env: 'T' }, 'headers.Authorization', {})).toThrow(
      /headers\.Authorization.*T/,
    );
    expect(() => readSecret('a\r\nb', 'x', {})).toThrow(ConfigError);
  });

  it('come from a file with mode 600', () => {
    const folder = mkdtempSync(join(tmpdir(), 'toolkeel-secrets-'));
    folders.push(folder);
    const file = join(folder, 'token');
    writeFileSync(file, 'abc\n', { mode: 0o600 });
    expect(readSecret({ file }, 'x', {})).toBe('abc');
    const open = join(folder, 'open');
    writeFileSync(open, 'abc', { mode: 0o644 });
    if (process.platform !== 'win32')
      expect(() => readSecret({ file: open }, 'x', {})).toThrow(/mode to 600/);
    expect(() => readSecret({ file: join(folder, 'none') }, 'x', {})).toThrow(ConfigError);
  });

  it('names the setting of an unusable secret, and not the secret', () => {
    expect(readSecret({ env: 'A' }, 'accessToken', { A: ' token\n' })).toBe('token');
    expect(() => readSecret({ env: 'A' }, 'accessToken', {})).toThrow(/accessToken.*A/);
    expect(() => readSecret({ env: 'A' }, 'accessToken', { A: 'to\nken' })).toThrow(/accessToken/);
    expect(() => readSecret({ file: '/nowhere' }, 'bearerToken', {})).toThrow(/bearerToken/);
  });
});

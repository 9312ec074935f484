import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { keptKey } from './kept-key.js';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'toolkeel-key-'));
});

afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

it('is made once and found again, and only its owner can read it', () => {
  const deep = join(dir, 'not', 'there', 'yet');
  const key = keptKey(deep, 'k');
  expect(key).toHaveLength(32);
  expect(keptKey(deep, 'k')).toEqual(key);
  expect(keptKey(dir, 'k')).not.toEqual(key);
  expect(readdirSync(deep)).toEqual(['k']);
  if (process.platform !== 'win32') expect(statSync(join(deep, 'k')).mode & 0o777).toBe(0o600);
});

it('is refused where it is broken, and not replaced', () => {
  writeFileSync(join(dir, 'k'), 'short', { mode: 0o600 });
  expect(() => keptKey(dir, 'k')).toThrow(/holds no key: remove it/);
});

it.skipIf(process.platform === 'win32')('is refused where others can read it', () => {
  writeFileSync(join(dir, 'k'), 'x'.repeat(60), { mode: 0o644 });
  expect(() => keptKey(dir, 'k')).toThrow(/mode 644/);
});

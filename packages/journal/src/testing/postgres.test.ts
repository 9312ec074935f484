import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findPostgres } from './postgres.js';

let root: string;
beforeEach(() => void (root = mkdtempSync(join(tmpdir(), 'toolkeel-find-'))));
afterEach(() => rmSync(root, { recursive: true }));

const install = (dir: string, mode = 0o755, programs = ['postgres', 'initdb']): string => {
  const path = join(root, dir);
  mkdirSync(path, { recursive: true });
  for (const program of programs) writeFileSync(join(path, program), '', { mode });
  return path;
};

test('finds a server in the PATH', () => {
  const bin = install('bin');
  expect(findPostgres(['/nowhere', bin].join(delimiter), root)).toBe(bin);
});

test('finds the newest version in the Debian directory', () => {
  install('9.6/bin');
  install('15/bin');
  const newest = install('17/bin');
  expect(findPostgres('', root)).toBe(newest);
});

test('ignores incomplete installations', () => {
  install('17/bin', 0o644);
  install('16/bin', 0o755, ['initdb']);
  expect(findPostgres('', root)).toBeUndefined();
  expect(findPostgres('', join(root, 'nowhere'))).toBeUndefined();
});

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { HostLog } from '../log/log.js';
import { persistentPageTokens } from './kept-tokens.js';

let dir: string;
const binding = { tool: 't', account: 'a', args: {} };

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'toolkeel-tokens-'));
});

afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

it('can be opened after a restart, by whoever shares the directory', () => {
  const data = join(dir, 'data');
  const [before, after] = [
    persistentPageTokens(data, () => {}),
    persistentPageTokens(data, () => {}),
  ];
  expect(existsSync(data)).toBe(false); // nobody has needed one yet
  const token = before.encode(binding, { page: 2 });
  expect(after.decode(binding, token)).toEqual({ ok: true, cursor: { page: 2 } });
  expect(persistentPageTokens(join(dir, 'other'), () => {}).decode(binding, token).ok).toBe(false);
});

it('last as long as the process where nothing can be kept, and the log says so', () => {
  const file = join(dir, 'file');
  writeFileSync(file, '');
  const log = vi.fn<HostLog>();
  const tokens = persistentPageTokens(join(file, 'data'), log);
  expect(tokens.decode(binding, tokens.encode(binding, 1))).toEqual({ ok: true, cursor: 1 });
  expect(log.mock.calls.map(([level, event]) => [level, event])).toEqual([
    ['warn', 'page_tokens_not_kept'],
  ]);
});

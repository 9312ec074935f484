import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { simulate } from './simulator/command.js';

test('docs/simulation.md equals the output of the full run, and every threshold is met', async () => {
  let page = '';
  const code = await simulate(['--write', '--threads', '1'], {
    out: () => {},
    err: () => {},
    colours: false,
    progress: false,
    writePage: (text) => void (page = text),
  });
  expect(code).toBe(0);
  const committed = new URL('../../../docs/simulation.md', import.meta.url);
  expect(page).toBe(readFileSync(committed, 'utf8'));
}, 1_800_000);

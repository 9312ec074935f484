import { readFileSync } from 'node:fs';
import { codesTable } from '@toolkeel/contract';
import { expect, it } from 'vitest';
import { ownCodes } from './codes.js';

it('the README lists the codes of the pack', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  expect(readme).toContain(codesTable(ownCodes).join('\n'));
});

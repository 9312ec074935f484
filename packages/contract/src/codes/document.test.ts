import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { containing } from '../matchers.fixture.js';
import { errorCodesMarkdown } from './document.js';
import { codes } from './table.js';

const page = new URL('../../../../docs/error-codes.md', import.meta.url);

it('docs/error-codes.md is current (rewrite it with UPDATE_DOCS=1 npx vitest run packages/contract)', () => {
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(page, errorCodesMarkdown());
  expect(readFileSync(page, 'utf8')).toBe(errorCodesMarkdown());
});

it('lists every code once, with its flag', () => {
  const rows = errorCodesMarkdown()
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  expect(rows).toHaveLength(Object.keys(codes).length);
  for (const [code, { retryable }] of Object.entries(codes)) {
    expect(rows.filter((row) => row.startsWith(`| \`${code}\` |`))).toEqual([
      containing(retryable ? '| Yes |' : '| No |'),
    ]);
  }
});

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { plain } from '../report/table.js';
import { Results } from './jobs.js';
import { quoteFrom, sweepJobs, sweepTable } from './measures.js';
import { shippedNumbers } from './page.js';
import { sweepNames, sweeps } from './sweeps.js';

describe.for(sweepNames)('the %s sweep', (name) => {
  const sweep = sweeps[name];

  test('has one job for every figure and starts with the shipped choice', () => {
    const ids = sweepJobs(sweep, { seed: 1, calls: 1000 }).map(({ id }) => id);
    expect(new Set(ids).size).toBe(sweep.choices.length * sweep.measures.length);
    expect(sweep.choices[0]?.title).toMatch(/^as shipped/);
  });

  test('is explained with figures of its table', () => {
    const table = sweepTable(sweep, new Results());
    expect(sweep.explanation(quoteFrom(table)).length).toBeGreaterThan(200);
  });
});

test('a sentence can quote only existing figures', () => {
  const quote = quoteFrom({
    title: 'Title',
    lead: '',
    head: ['policy', '5 ms'],
    rows: [[plain('ours'), plain('1')]],
  });
  expect(quote('ours', '5 ms')).toBe('1');
  expect(() => quote('ours', '6 ms')).toThrow('has no ours / 6 ms');
});

test('docs/simulation.md shows the shipped numbers', () => {
  const page = readFileSync(new URL('../../../../docs/simulation.md', import.meta.url), 'utf8');
  expect(page).toContain(shippedNumbers());
  expect(page).toContain('200,000 calls a cell');
});

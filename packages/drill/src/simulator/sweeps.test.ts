import { describe, expect, test } from 'vitest';
import { quoteFrom, reasoning } from './tables.js';
import { Results } from './jobs.js';
import { sweepJobs, sweepNames, sweeps, sweepTable } from './sweeps.js';

describe.for(sweepNames)('the sweep of %s', (name) => {
  const sweep = sweeps[name];

  test('has a job of its own for every figure, and begins with what is shipped', () => {
    const ids = sweepJobs(sweep, { seed: 1, calls: 1000 }).map(({ id }) => id);
    expect(new Set(ids).size).toBe(sweep.choices.length * sweep.measures.length);
    expect(sweep.choices[0]?.title).toMatch(/^as shipped/);
  });

  test('is explained by figures that its table has', () => {
    const table = sweepTable(sweep, new Results());
    expect(reasoning[name](quoteFrom(table)).length).toBeGreaterThan(200);
  });
});

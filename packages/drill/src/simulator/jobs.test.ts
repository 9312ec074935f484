import { expect, test } from 'vitest';
import { runAll } from './jobs.js';
import { fullPlan, matching } from './plan.js';

const jobs = matching(fullPlan({ seed: 1, calls: 300 }), 'cell/fast/5/');

test('runs every job and reports progress', async () => {
  const progress: string[] = [];
  const results = await runAll(jobs, {
    threads: 1,
    onDone: (_, done, all) => progress.push(`${done} of ${all}`),
  });
  expect(results.inOrderOf(jobs).map(({ id }) => id)).toEqual(jobs.map(({ id }) => id));
  expect(progress.at(-1)).toBe(`${jobs.length} of ${jobs.length}`);
});

test('a pattern selects jobs, * matches anything', () => {
  const plan = fullPlan({ seed: 1, calls: 300 });
  expect(new Set(plan.map(({ id }) => id)).size).toBe(plan.length);
  expect(matching(plan, 'outage/*/hedged').every(({ id }) => /^outage\/.*\/hedged$/.test(id))).toBe(
    true,
  );
  expect(matching(plan, 'outage/*/hedged').length).toBeGreaterThan(5);
  expect(matching(plan, 'nothing')).toEqual([]);
});

import { beforeAll, describe, expect, test } from 'vitest';
import { fullPlan, matching } from './plan.js';
import { type Job, Results, runAll } from './jobs.js';
import { objectives } from './objectives.js';

/** The jobs of the thresholds, small enough for every test run. */
const plan: Job[] = fullPlan({ seed: 1, calls: 6000 });
const judged = [
  'cell/*/ours',
  'cell/*/hedged',
  'cell/*/floor',
  'outage/crash',
  'outage/hang',
  'inside-bursts/*/ours',
  'inside-bursts/*/hedged',
  'inside-bursts/*/seed',
  'cold',
  'false-opens',
];
const jobs = judged.flatMap((pattern) => matching(plan, pattern));

describe('the objectives', () => {
  let results = new Results();
  beforeAll(async () => {
    results = await runAll(jobs, { threads: 1 });
  }, 120_000);

  test('that are attainable are met', () => {
    const missed = objectives(results).filter(({ status }) => status === 'missed');
    expect(missed).toEqual([]);
  });

  test('are all judged', () => {
    const open = objectives(results).filter(({ status }) => status === 'not run');
    expect(open).toEqual([]);
  });

  test('that no retry can meet are reported with the floor as the reason', () => {
    const unattainable = objectives(results).filter(({ status }) => status === 'cannot');
    expect(unattainable.map(({ what }) => what.split(',')[1])).toEqual([
      ' same faults',
      ' mix faults',
    ]);
    for (const { why } of unattainable)
      expect(why).toMatch(/already costs \+\d.* hedging reduces it to/);
  });

  test('are not judged without results', () => {
    const statuses = objectives(new Results()).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set(['not run']));
  });
});

describe('a threshold', () => {
  const id = 'cell/fast/200/ours';
  const job = plan.find((one): one is Job<'cell'> => one.id === id)!;
  const statusAt = (ratio: number): string | undefined => {
    const results = new Results();
    const interval = { low: ratio, high: ratio };
    const rest = {
      success: 1,
      p50Ms: 1,
      p95Ms: 1,
      p99Ms: 1,
      load: 1,
      maxAttempts: 1,
      maxWallMs: 1,
    };
    results.add(job, { ratio, interval, ...rest });
    return objectives(results).find(({ what }) => what === 'p95, fast faults, 200 ms')?.status;
  };

  test('is met at +35 % and missed above', () => {
    expect(statusAt(1.35)).toBe('met');
    expect(statusAt(1.351)).toBe('missed');
  });
});

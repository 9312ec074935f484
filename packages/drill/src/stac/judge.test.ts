import { describe, expect, test } from 'vitest';
import type { Objective } from '../report/objectives.js';
import { type Change, failing, measuredFixture, slower } from './records.fixture.js';
import { exitCodeOf, judgeNoise, stacObjectives } from './judge.js';

const good = measuredFixture();
const mix = measuredFixture({ mode: 'mix', p95Ms: 200 });

const statuses = (objectives: readonly Objective[]) =>
  Object.fromEntries(objectives.map(({ what, status }) => [what, status]));
const judged = (...runs: Parameters<typeof stacObjectives>[0]) => statuses(stacObjectives(runs));
const faulted = (change: Change) => measuredFixture({ variants: { faulted: change } });

const tools = 'success of a tool of k requests, fast faults, every latency';

describe('the thresholds', () => {
  test('are met by a run without failures', () => {
    const every = [good, measuredFixture({ p95Ms: 200 }), measuredFixture({ p95Ms: 1000 }), mix];
    const objectives = stacObjectives(every);
    expect(new Set(objectives.map(({ status }) => status))).toEqual(new Set(['met']));
    expect(exitCodeOf(objectives)).toBe(0);
  });

  test.for([
    [10, 'met'],
    [11, 'missed'],
  ] as const)(
    'the success of each tool in 95 %% of 200 calls: with %i failures it is %s',
    ([n, status]) => {
      const name = 'success of each tool, fast faults, 50 ms';
      expect(judged(faulted(failing('search_items', n)))[name]).toBe(status);
    },
  );

  test.for([
    [3, 'met'],
    [4, 'missed'],
  ] as const)(
    'the success of single-request tools in 98.5 %% of their calls: %i failures each',
    ([n, status]) => {
      const name = 'success of the tools of one request, pooled, 50 ms';
      const run = faulted(({ n: at }) => (at < n ? { success: false } : {}));
      expect(judged(run)[name]).toBe(status);
    },
  );

  test('only tools of one request are pooled', () => {
    const many: Change = ({ tool }) => (tool === 'summarize_search' ? { distinct: 2 } : {});
    const run = measuredFixture({
      variants: { baseline: many, faulted: failing('summarize_search', 8) },
    });
    const pooled = stacObjectives([run]).find(({ what }) => what.includes('pooled'));
    expect(pooled).toMatchObject({ measured: '100.00 % of 2,200 calls', status: 'met' });
  });

  test.for([
    // 0.992 less three standard deviations of 600 calls is 0.9811: 11.3 failures; 0.992²: 18.8.
    [1, 11, 'met'],
    [1, 12, 'missed'],
    [2, 18, 'met'],
    [2, 19, 'missed'],
  ] as const)('a tool of %i requests with %i failures of 600 is %s', ([k, failures, status]) => {
    const run = measuredFixture({
      calls: 600,
      tools: ['get_item'],
      variants: { baseline: () => ({ distinct: k }), faulted: failing('get_item', failures) },
    });
    expect(judged(run)[tools]).toBe(status);
  });

  test('a tool of k requests is judged over all latencies, not over one', () => {
    const at = (p95Ms: number, failures: number) =>
      measuredFixture({ p95Ms, variants: { faulted: failing('get_item', failures) } });
    expect(judged(at(50, 9))[tools]).toBe('not run');
    expect(judged(at(50, 9), at(200, 1), at(1000, 1))[tools]).toBe('met');
    expect(judged(at(50, 4), at(200, 4), at(1000, 4))[tools]).toBe('missed');
  });

  test.for([
    [1.349, 'met'],
    [1.351, 'missed'],
  ] as const)('p95 at %f of the baseline is %s', ([factor, status]) => {
    expect(judged(faulted(slower(factor)))['p95, fast faults, 50 ms']).toBe(status);
  });

  test.for([
    [1.3, 3, 2, 'met'],
    [1.3, 31, 20, 'missed'], // 1.55 times the load
    [1.4, 1, 1, 'missed'],
  ] as const)('the mix: p95 × %f, %i requests for %i', ([factor, requests, without, status]) => {
    const run = measuredFixture({
      mode: 'mix',
      p95Ms: 200,
      variants: {
        baseline: () => ({ requests: without }),
        faulted: (record) => ({ ...slower(factor)(record), requests }),
      },
    });
    expect(judged(run)['p95, one fault in five a timeout, hedging, 200 ms']).toBe(status);
  });

  test.for([
    ['attempts at a request, by the upstream’s log', { mostAttempts: 4 }],
    ['wall time of a call', { wallMs: 15_101 }],
    ['envelopes that do not match their schema', { mismatch: 'no result' }],
    ['calls that contradict the upstream’s log', { contradiction: 'a contradiction' }],
  ] as const)('one call is enough to miss a threshold: %s', ([what, change]) => {
    const one: Change = ({ tool, n }) => (tool === 'get_root' && n === 7 ? change : {});
    for (const variant of ['faulted', 'baseline'] as const) {
      const objectives = stacObjectives([measuredFixture({ variants: { [variant]: one } })]);
      expect(statuses(objectives)[what]).toBe('missed');
      expect(exitCodeOf(objectives)).toBe(1);
    }
  });

  test('are missed by a request without a call and by a failure without a fault', () => {
    expect(judged(measuredFixture({ unattributed: 1 }))['requests that belong to no call']).toBe(
      'missed',
    );
    const run = measuredFixture({ variants: { again: failing('get_item', 1) } });
    expect(judged(run)['calls that fail without faults']).toBe('missed');
  });

  test('are not judged from a few calls', () => {
    const objectives = stacObjectives([
      measuredFixture({
        calls: 8,
        variants: { faulted: failing('get_item', 4), again: slower(3) },
      }),
    ]);
    expect(exitCodeOf(objectives)).toBe(0);
    const notRun = objectives.filter(({ status }) => status === 'not run');
    expect(notRun.map(({ what }) => what)).toEqual([
      'success of each tool, fast faults, 50 ms',
      'success of the tools of one request, pooled, 50 ms',
      tools,
      'p95, fast faults, 50 ms',
    ]);
  });
});

describe('the noise rule', () => {
  const noisy = (change: Change) => measuredFixture({ variants: { again: change } });

  test.for([
    [1.09, true],
    [1.11, false],
    [0.92, true],
    [0.9, false],
  ] as const)('accepts a ratio of %f between two identical variants: %s', ([factor, counts]) => {
    expect(judgeNoise(noisy(slower(factor))).counts).toBe(counts);
  });

  test('uses the interval, not the ratio', () => {
    const run = noisy(({ block, wallMs }) => ({ wallMs: block % 25 === 0 ? wallMs * 2 : wallMs }));
    const { ratio, counts } = judgeNoise(run);
    expect(ratio.ratio).toBeLessThan(1.1);
    expect(ratio.high).toBeGreaterThan(1.1);
    expect(counts).toBe(false);
  });

  test('neither meets nor misses a threshold with a noisy run, and returns exit code 3', () => {
    const run = measuredFixture({ variants: { again: slower(1.2), faulted: slower(2) } });
    const objectives = stacObjectives([run]);
    expect(statuses(objectives)['p95, fast faults, 50 ms']).toBe('too noisy');
    expect(exitCodeOf(objectives)).toBe(3);
  });

  test('reports a missed threshold rather than noise', () => {
    const variants = { again: slower(1.2), faulted: failing('get_item', 50) };
    expect(exitCodeOf(stacObjectives([measuredFixture({ variants })]))).toBe(1);
  });

  test('uses the second run, but checks the invariants in both', () => {
    expect(exitCodeOf(stacObjectives([noisy(slower(2)), good]))).toBe(0);
    const broken = measuredFixture({
      variants: { again: slower(2), faulted: () => ({ mostAttempts: 4 }) },
    });
    expect(exitCodeOf(stacObjectives([broken, good]))).toBe(1);
  });

  test('requires a second measurement of the baseline', () => {
    expect(() => judgeNoise({ ratios: {} })).toThrow('only once');
  });
});

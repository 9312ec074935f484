import { describe, expect, test } from 'vitest';
import { variantOf, isSingleRequest } from './measure.js';
import { failing, measuredFixture, slower } from './records.fixture.js';

describe('a scenario in figures', () => {
  test('a variant that is slower by a factor has that ratio, and no doubt about it', () => {
    const { ratios } = measuredFixture({ variants: { faulted: slower(1.2) } });
    expect(ratios.faulted?.ratio).toBeCloseTo(1.2, 10);
    expect(ratios.faulted?.low).toBeCloseTo(1.2, 6);
    expect(ratios.faulted?.high).toBeCloseTo(1.2, 6);
    expect(ratios.again?.ratio).toBe(1);
  });

  test('what slows single blocks down makes the interval wide', () => {
    const { ratios } = measuredFixture({
      variants: {
        again: ({ block, wallMs }) => ({ wallMs: block % 5 === 0 ? wallMs * 2 : wallMs }),
      },
    });
    const { low, high } = ratios.again!;
    expect(high - low).toBeGreaterThan(0.1);
  });

  test('the interval is drawn from blocks: noise within each of them averages out', () => {
    const every5th = measuredFixture({
      variants: { again: ({ n, wallMs }) => ({ wallMs: n % 4 === 0 ? wallMs * 2 : wallMs }) },
    }).ratios.again!;
    const blocks = measuredFixture({
      variants: {
        again: ({ block, wallMs }) => ({ wallMs: block % 4 === 0 ? wallMs * 2 : wallMs }),
      },
    }).ratios.again!;
    expect(every5th.high - every5th.low).toBeLessThan(0.75 * (blocks.high - blocks.low));
  });

  test('counts successes, codes and what arrived', () => {
    const run = measuredFixture({
      variants: {
        faulted: (record) => ({ ...failing('get_item', 3)(record), requests: 2, hedges: 1 }),
      },
    });
    expect(variantOf(run, 'faulted')).toMatchObject({
      calls: 2400,
      successes: 2397,
      codes: { ok: 2397, upstream_unavailable: 3 },
      requests: 4800,
      hedges: 2400,
    });
    expect(run.tools.find(({ tool }) => tool === 'get_item')?.faulted.successes).toBe(197);
    expect(() => variantOf(run, 'hedged')).toThrow('no variant hedged');
  });

  test('a success that says less than without faults is partial, a failure is not', () => {
    const run = measuredFixture({
      variants: {
        faulted: (record) => ({
          ...failing('get_root', 1)(record),
          digest: record.tool === 'get_root' && record.n < 3 ? 'less' : record.digest,
        }),
      },
    });
    expect(variantOf(run, 'faulted').incomplete).toBe(2);
    expect(run.tools.find(({ tool }) => tool === 'get_root')?.faulted.incomplete).toBe(2);
  });

  test('how many requests a call makes is read from the log without faults', () => {
    const run = measuredFixture({
      variants: {
        baseline: ({ tool }) => (tool === 'get_queryables' ? { distinct: 2 } : {}),
        faulted: () => ({ distinct: 7 }),
      },
    });
    const queryables = run.tools.find(({ tool }) => tool === 'get_queryables');
    expect(queryables?.requests).toEqual([2, 2]);
    expect(queryables?.lowest).toBeCloseTo(0.9575, 4);
    expect(run.tools.filter(isSingleRequest)).toHaveLength(11);
  });

  test('what our side adds is told from calls of one request', () => {
    const run = measuredFixture({
      variants: { baseline: ({ n }) => (n % 2 === 0 ? { requests: 2, wallMs: 9999 } : {}) },
    });
    expect(run.overheadMs).toBeCloseTo(3, 9);
  });
});

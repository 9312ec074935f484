import { describe, expect, test } from 'vitest';
import { variantOf, isSingleRequest } from './measure.js';
import { failing, measuredFixture, slower } from './records.fixture.js';

describe('the figures of a scenario', () => {
  test('a variant that is slower by a factor has that ratio with a zero-width interval', () => {
    const { ratios } = measuredFixture({ variants: { faulted: slower(1.2) } });
    expect(ratios.faulted?.ratio).toBeCloseTo(1.2, 10);
    expect(ratios.faulted?.low).toBeCloseTo(1.2, 6);
    expect(ratios.faulted?.high).toBeCloseTo(1.2, 6);
    expect(ratios.again?.ratio).toBe(1);
  });

  test('slow blocks widen the interval', () => {
    const { ratios } = measuredFixture({
      variants: {
        again: ({ block, wallMs }) => ({ wallMs: block % 5 === 0 ? wallMs * 2 : wallMs }),
      },
    });
    const { low, high } = ratios.again!;
    expect(high - low).toBeGreaterThan(0.1);
  });

  test('the interval resamples blocks: noise within a block averages out', () => {
    const withinBlocks = measuredFixture({
      variants: { again: ({ n, wallMs }) => ({ wallMs: n % 4 === 0 ? wallMs * 2 : wallMs }) },
    }).ratios.again!;
    const blocks = measuredFixture({
      variants: {
        again: ({ block, wallMs }) => ({ wallMs: block % 4 === 0 ? wallMs * 2 : wallMs }),
      },
    }).ratios.again!;
    expect(withinBlocks.high - withinBlocks.low).toBeLessThan(0.75 * (blocks.high - blocks.low));
  });

  test('counts successes, codes and requests', () => {
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

  test('a success with less data than without faults is incomplete, a failure is not', () => {
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

  test('the number of requests of a call is read from the log without faults', () => {
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

  test('the overhead is measured on single-request calls', () => {
    const run = measuredFixture({
      variants: { baseline: ({ n }) => (n % 2 === 0 ? { requests: 2, wallMs: 9999 } : {}) },
    });
    expect(run.overheadMs).toBeCloseTo(3, 9);
  });
});

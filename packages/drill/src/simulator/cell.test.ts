import { describe, expect, test } from 'vitest';
import { variants } from './variants.js';
import { runCell, type CellOptions } from './cell.js';

const options: CellOptions = {
  variant: variants.ours,
  latency: { p95Ms: 200, sigma: 0.5 },
  faults: 'fast',
  arrivals: { perSecond: 100 },
  calls: 3000,
  seed: 1,
};

describe('a cell', () => {
  test('is deterministic for a seed and differs between seeds', async () => {
    const first = await runCell(options);
    expect(await runCell(options)).toEqual(first);
    expect(await runCell({ ...options, seed: 2 })).not.toEqual(first);
  });

  test('without faults equals the baseline', async () => {
    const { ratio, success, load, maxAttempts } = await runCell({ ...options, faults: 'none' });
    expect(ratio).toBeCloseTo(1, 12);
    expect({ success, load, maxAttempts }).toEqual({ success: 1, load: 1, maxAttempts: 1 });
  });

  test('matches the theory of two retries: success 1 − 0.2³, load 1 + 0.2 + 0.04', async () => {
    const { success, load } = await runCell({ ...options, calls: 20_000, variant: variants.floor });
    expect(success).toBeGreaterThan(0.99);
    expect(success).toBeLessThan(0.994);
    expect(load).toBeCloseTo(1.24, 1);
  });

  test('uses common random numbers: policies with two retries fail the same calls', async () => {
    const results = await Promise.all(
      (['ours', 'seed', 'floor'] as const).map((variant) =>
        runCell({ ...options, variant: variants[variant] }),
      ),
    );
    expect(new Set(results.map(({ success }) => success)).size).toBe(1);
    expect(new Set(results.map(({ load }) => load)).size).toBe(1);
  });

  test('respects the attempts and the timeout of the policy', async () => {
    const { maxAttempts, maxWallMs } = await runCell({
      ...options,
      faults: 'mix',
      variant: variants.hedged,
    });
    expect(maxAttempts).toBe(3);
    expect(maxWallMs).toBeLessThanOrEqual(15_001);
  });
});

import { describe, expect, test } from 'vitest';
import { variants } from './variants.js';
import { callsForBursts, runBursts, runInsideBursts, standardError } from './bursts.js';

const options = { perSecond: 20, p95Ms: 50, calls: 2100, seed: 1 } as const;

describe.each(['warm', 'cold'] as const)('calls that begin inside a burst, %s', (start) => {
  test('of 300 ms succeed, in at most three attempts and 3 s', async () => {
    const ours = await runInsideBursts({ ...options, variant: variants.ours, start, burstMs: 300 });
    expect(ours.calls).toBeGreaterThanOrEqual(2000);
    expect(ours.success).toBeGreaterThanOrEqual(0.95);
    expect(ours.maxAttempts).toBeLessThanOrEqual(3);
    expect(ours.maxWallMs).toBeLessThan(3000);
  });

  test('of 1 s succeed at least as often as with fixed caps', async () => {
    const [ours, seed] = await Promise.all(
      [variants.ours, variants.seed].map((variant) =>
        runInsideBursts({ ...options, variant, start, burstMs: 1000 }),
      ),
    );
    expect(ours!.calls).toBe(seed!.calls);
    expect(ours!.calls).toBeGreaterThanOrEqual(2000);
    expect(ours!.success).toBeGreaterThan(seed!.success - 3 * standardError(ours!, seed!));
  });
});

describe('intermittent outages', () => {
  const settings = { meanMs: 200, perSecond: 100, calls: 4000, seed: 1 };

  test('are survived by longer backoffs, not by immediate retries', async () => {
    const [ours, seed, floor] = await Promise.all(
      (['ours', 'seed', 'floor'] as const).map((variant) =>
        runBursts({ ...settings, variant: variants[variant] }),
      ),
    );
    expect(floor!.success).toBeLessThan(ours!.success);
    expect(ours!.success).toBeLessThan(seed!.success);
  });

  test('get enough calls to meet a minimum number of outages', () => {
    expect(callsForBursts(1000, 50, 100)).toBe(1000);
    expect(callsForBursts(1000, 5000, 100)).toBe(50_000);
  });
});

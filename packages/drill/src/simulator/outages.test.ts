import { describe, expect, test } from 'vitest';
import { variants } from './variants.js';
import { callsForBursts, runBursts } from './bursts.js';
import { runOutage, runRecovery } from './outages.js';

describe('bursts', () => {
  const options = { meanMs: 200, perSecond: 100, calls: 4000, seed: 1 };

  test('are ridden out by waiting, not by retrying at once', async () => {
    const [ours, seed, floor] = await Promise.all(
      (['ours', 'seed', 'floor'] as const).map((variant) =>
        runBursts({ ...options, variant: variants[variant] }),
      ),
    );
    expect(floor!.success).toBeLessThan(ours!.success);
    expect(ours!.success).toBeLessThan(seed!.success);
  });

  test('take as many calls as it needs to see some', () => {
    expect(callsForBursts(1000, 50, 100)).toBe(1000);
    expect(callsForBursts(1000, 5000, 100)).toBe(50_000);
  });
});

describe('an outage', () => {
  test('costs a policy without a budget every retry, and ours a few', async () => {
    const options = { outage: 'crashes', perSecond: 2, seed: 1 } as const;
    const seed = await runOutage({ ...options, variant: variants.seed });
    const budget = await runOutage({ ...options, variant: variants.withoutBreaker });
    const ours = await runOutage({ ...options, variant: variants.ours });
    expect(seed.load).toBeCloseTo(3, 1);
    expect(budget.load).toBeLessThanOrEqual(1.1);
    expect(ours.loadOnceOpen).toBeLessThan(0.1);
    expect(seed.opensAfterMs).toBeUndefined();
  });
});

describe('after an outage', () => {
  const options = { perSecond: 50, outageMs: 10_000, capacity: 1.5, seed: 1 };

  test('retries without end come back all at once, ours do not', async () => {
    const pRetry = await runRecovery({ ...options, variant: variants.pRetry });
    const ours = await runRecovery({ ...options, variant: variants.ours });
    expect(pRetry.peakLoad).toBeGreaterThan(2 * ours.peakLoad);
    expect(ours.recoversAfterMs).toBeLessThanOrEqual(20_000);
    expect(ours.slowestMs).toBeGreaterThanOrEqual(ours.recoversAfterMs);
  });
});

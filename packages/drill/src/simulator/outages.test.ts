import { describe, expect, test } from 'vitest';
import { variants } from './variants.js';
import { runOutage, runRecovery } from './outages.js';

describe('an outage', () => {
  test('costs every retry without a budget, and few with the preset', async () => {
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

  test('p-retry causes a load peak, the preset does not', async () => {
    const pRetry = await runRecovery({ ...options, variant: variants.pRetry });
    const ours = await runRecovery({ ...options, variant: variants.ours });
    expect(pRetry.peakLoad).toBeGreaterThan(2 * ours.peakLoad);
    expect(ours.recoversAfterMs).toBeLessThanOrEqual(20_000);
    expect(ours.slowestMs).toBeGreaterThanOrEqual(ours.recoversAfterMs);
  });
});

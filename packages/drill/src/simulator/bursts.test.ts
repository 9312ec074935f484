import { describe, expect, test } from 'vitest';
import { variants } from './variants.js';
import { runInsideBursts, standardError } from './bursts.js';

const options = { perSecond: 20, p95Ms: 50, calls: 2100, seed: 1 } as const;

describe.each(['warm', 'cold'] as const)('calls that begin inside a burst, %s', (start) => {
  test('of 300 ms succeed, in at most three attempts and 3 s of waiting', async () => {
    const ours = await runInsideBursts({ ...options, variant: variants.ours, start, burstMs: 300 });
    expect(ours.calls).toBeGreaterThanOrEqual(2000);
    expect(ours.success).toBeGreaterThanOrEqual(0.95);
    expect(ours.maxAttempts).toBeLessThanOrEqual(3);
    expect(ours.maxWallMs).toBeLessThan(3000);
  });

  test('of 1 s succeed at least as often as with the literal policy of seed 003', async () => {
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

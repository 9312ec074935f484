import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { calculateBackoff, jitteredBackoff, retriesQuickly } from './backoff.js';
import { definePolicy } from './policy.js';
import { policies } from './policies.fixture.js';

describe('calculateBackoff', () => {
  it.each([
    [0, 1000],
    [1, 2000],
    [2, 4000],
    [5, 32_000],
    [6, 60_000],
    [1000, 60_000],
  ])('waits at most %i → %i ms by the default policy', (attempt, ms) => {
    expect(calculateBackoff(attempt, definePolicy())).toBe(ms);
  });

  it('follows a custom policy: 500 ms × 1.5 up to 30 s', () => {
    const policy = definePolicy({
      maxRetries: 5,
      initialBackoffMs: 500,
      maxBackoffMs: 30_000,
      backoffMultiplier: 1.5,
    });
    expect([0, 1, 2, 20].map((n) => calculateBackoff(n, policy))).toEqual([500, 750, 1125, 30_000]);
  });

  it('stays zero if it starts at zero', () => {
    const policy = definePolicy({ initialBackoffMs: 0 });
    expect(calculateBackoff(5000, policy)).toBe(0);
  });

  it('is never negative, never above the cap, and never decreases', () => {
    fc.assert(
      fc.property(policies, fc.nat(2000), (policy, attempt) => {
        const here = calculateBackoff(attempt, policy);
        expect(here).toBeGreaterThanOrEqual(0);
        expect(here).toBeLessThanOrEqual(policy.maxBackoffMs);
        expect(calculateBackoff(attempt + 1, policy)).toBeGreaterThanOrEqual(here);
      }),
    );
  });
});

describe('jitteredBackoff', () => {
  const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

  it('lies between the minimum and the backoff', () => {
    fc.assert(
      fc.property(policies, fc.nat(20), unit, (policy, attempt, draw) => {
        const wait = jitteredBackoff(attempt, policy, { random: () => draw });
        expect(wait).toBeGreaterThanOrEqual(policy.minBackoffMs);
        expect(wait).toBeLessThanOrEqual(calculateBackoff(attempt, policy));
      }),
    );
  });

  it('never waits longer for a fast upstream', () => {
    fc.assert(
      fc.property(
        policies,
        fc.nat(20),
        unit,
        fc.double({ min: 0, max: 1e6, noNaN: true }),
        (policy, attempt, draw, observedMedianMs) => {
          const random = (): number => draw;
          const scaled = jitteredBackoff(attempt, policy, { random, observedMedianMs });
          expect(scaled).toBeLessThanOrEqual(jitteredBackoff(attempt, policy, { random }));
          expect(scaled).toBeGreaterThanOrEqual(policy.minBackoffMs);
        },
      ),
    );
  });

  it('caps the first delay at α medians and scales the rest', () => {
    const policy = definePolicy({
      initialBackoffMs: 400,
      maxBackoffMs: 1600,
      jitter: 'full',
      medianScale: 0.25,
    });
    const longest = (attempt: number, observedMedianMs: number): number =>
      jitteredBackoff(attempt, policy, { random: () => 1, observedMedianMs });
    expect(longest(0, 100)).toBe(25);
    expect(longest(1, 100)).toBe(50);
    expect(longest(0, 10_000)).toBe(400);
    expect(longest(1, 10_000)).toBe(800);
  });

  it('waits at least half of the backoff before later retries without a median', () => {
    const policy = definePolicy({
      initialBackoffMs: 400,
      maxBackoffMs: 1600,
      jitter: 'full',
      medianScale: 0.25,
    });
    const range = (attempt: number, observedMedianMs?: number): number[] =>
      [0, 1].map((draw) =>
        jitteredBackoff(attempt, policy, { random: () => draw, observedMedianMs }),
      );
    expect(range(0)).toEqual([0, 400]);
    expect(range(1)).toEqual([400, 800]);
    expect(range(2)).toEqual([800, 1600]);
    expect(range(1, 100)).toEqual([0, 50]);
  });

  it('is uniform over its range', () => {
    const policy = definePolicy({ initialBackoffMs: 1000, jitter: 'full' });
    const at = (draw: number): number => jitteredBackoff(0, policy, { random: () => draw });
    expect([0, 0.25, 0.5, 0.75].map(at)).toEqual([0, 250, 500, 750]);
  });
});

describe('retriesQuickly', () => {
  const limits = { failingShare: 0.4, isolatedShare: 0.08 };
  const share = fc.double({ min: 0, max: 1, noNaN: true });

  it('allows a quick first retry unless the upstream keeps failing', () => {
    fc.assert(
      fc.property(share, share, (failureShare, recoveredShare) => {
        const quick = retriesQuickly(0, { failureShare, recoveredShare }, limits);
        expect(quick).toBe(failureShare <= limits.failingShare);
      }),
    );
  });

  it('never allows a quick retry that it would not have allowed earlier in the call', () => {
    fc.assert(
      fc.property(fc.nat(5), share, share, (attempt, failureShare, recoveredShare) => {
        const recent = { failureShare, recoveredShare };
        if (retriesQuickly(attempt + 1, recent, limits)) {
          expect(retriesQuickly(attempt, recent, limits)).toBe(true);
        }
      }),
    );
  });

  it('allows quick later retries only if quick retries often succeed', () => {
    const recent = (recoveredShare: number) => ({ failureShare: 0.2, recoveredShare });
    expect(retriesQuickly(1, recent(0.16), limits)).toBe(true);
    expect(retriesQuickly(1, recent(0.01), limits)).toBe(false);
  });
});

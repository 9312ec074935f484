import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { between, hash, normal, randomOf, sampleIndexes, wholeBetween } from './random.js';

describe('seeded randomness', () => {
  test('is repeatable, and differs between purposes', () => {
    const first = (...parts: (string | number)[]) => Array.from({ length: 5 }, randomOf(...parts));
    expect(first(1, 'a')).toEqual(first(1, 'a'));
    expect(first(1, 'a')).not.toEqual(first(1, 'b'));
    expect(first(1, 'a')).not.toEqual(first(2, 'a'));
    expect(hash('ab', 'c')).not.toBe(hash('a', 'bc'));
  });

  test('is uniform, also in the first number of neighbouring streams', () => {
    const firsts = Array.from({ length: 20_000 }, (_, seed) => randomOf(7, 'fault', seed)());
    const mean = firsts.reduce((sum, value) => sum + value, 0) / firsts.length;
    expect(mean).toBeCloseTo(0.5, 1.9);
    const fifth = firsts.filter((value) => value < 0.2).length / firsts.length;
    expect(Math.abs(fifth - 0.2)).toBeLessThan(0.012);
    const together = firsts.filter((value, at) => value < 0.2 && (firsts[at + 1] ?? 1) < 0.2);
    expect(Math.abs(together.length / firsts.length - 0.04)).toBeLessThan(0.006);
  });

  test('is normally distributed on request', () => {
    const random = randomOf('normal');
    const values = Array.from({ length: 20_000 }, () => normal(random));
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
    expect(Math.abs(mean)).toBeLessThan(0.03);
    expect(Math.abs(variance - 1)).toBeLessThan(0.05);
  });

  test('stays inside its bounds', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 0, max: 50 }), (seed, count) => {
        const random = randomOf(seed);
        const chosen = sampleIndexes(random, 40, count);
        expect(chosen).toHaveLength(Math.min(count, 40));
        expect(new Set(chosen).size).toBe(chosen.length);
        expect(chosen).toEqual(chosen.toSorted((a, b) => a - b));
        expect(between(random, 3, 4)).toBeGreaterThanOrEqual(3);
        expect([2, 3, 4]).toContain(wholeBetween(random, 2, 4));
      }),
    );
  });
});

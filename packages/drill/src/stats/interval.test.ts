import { seededRandom } from '@toolkeel/kernel/testing';
import { describe, expect, test } from 'vitest';
import { ratioInterval } from './interval.js';
import { lognormalQuantile } from './lognormal.js';
import { quantileOf, sorted } from './quantile.js';

const latency = { p95Ms: 100, sigma: 0.5 };
const drawn = (seed: number, length = 1000): Float64Array => {
  const random = seededRandom(seed);
  return Float64Array.from({ length }, () => lognormalQuantile(latency, random() || 0.5));
};
const options = { q: 0.95, seed: 1 };

/** The textbook way: draw calls with replacement, sort, look. */
function plainBootstrap(a: Float64Array, b: Float64Array): { low: number; high: number } {
  const random = seededRandom(2);
  const ratios = Float64Array.from({ length: 400 }, () => {
    const chosen = Uint32Array.from(a, () => Math.floor(random() * a.length));
    const p95 = (values: Float64Array) =>
      quantileOf(sorted(Float64Array.from(chosen, (i) => values[i]!)), 0.95);
    return p95(a) / p95(b);
  });
  return { low: quantileOf(sorted(ratios), 0.025), high: quantileOf(sorted(ratios), 0.975) };
}

describe('the interval of a p95 ratio', () => {
  test('is what the textbook’s bootstrap gives', () => {
    const a = drawn(1).map((ms) => ms * 1.2);
    const b = drawn(2);
    const ours = ratioInterval(a, b, options);
    const textbook = plainBootstrap(a, b);
    expect(ours.low).toBeCloseTo(textbook.low, 1);
    expect(ours.high).toBeCloseTo(textbook.high, 1);
  });

  test('covers the true ratio about 19 times in 20', () => {
    const covered = Array.from({ length: 60 }, (_, n) => {
      const a = drawn(100 + n).map((ms) => ms * 1.1);
      const { low, high } = ratioInterval(a, drawn(300 + n), { ...options, resamples: 200 });
      return low <= 1.1 && 1.1 <= high;
    });
    expect(covered.filter(Boolean).length).toBeGreaterThanOrEqual(52);
  });

  test('is a point where both sides met the same luck and one is slower by a factor', () => {
    const b = drawn(3);
    const { low, high } = ratioInterval(
      b.map((ms) => ms * 1.3),
      b,
      options,
    );
    expect(low).toBeCloseTo(1.3, 6);
    expect(high).toBeCloseTo(1.3, 6);
  });

  test('is the same for the same seed', () => {
    const [a, b] = [drawn(4), drawn(5)];
    expect(ratioInterval(a, b, options)).toEqual(ratioInterval(a, b, options));
    expect(ratioInterval(a, b, options)).not.toEqual(ratioInterval(a, b, { ...options, seed: 2 }));
  });

  test('copes with fewer calls than blocks', () => {
    const { low, high } = ratioInterval(drawn(6, 50), drawn(7, 50), options);
    expect(low).toBeLessThanOrEqual(high);
  });
});

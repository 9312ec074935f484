import { describe, expect, test } from 'vitest';
import {
  lognormalQuantile,
  lowestExpected,
  normalQuantile,
  p95Of,
  quantileOf,
  ratioInterval,
} from './stats.js';
import * as fc from 'fast-check';
import { seededRandom } from '@toolkeel/kernel/testing';

test.for([
  [[7], 0.95, 7],
  [[1, 2, 3, 4, 5], 0.5, 3],
  [[1, 2], 0.5, 1.5],
  [[0, 10], 0.95, 9.5],
  [[1, 2, 3], 0, 1],
  [[1, 2, 3], 1, 3],
] as const)('of %j the quantile %f is %f', ([values, q, expected]) => {
  expect(quantileOf(values, q)).toBeCloseTo(expected, 12);
});

test('the quantile of an empty list is NaN', () => {
  expect(quantileOf([], 0.5)).toBeNaN();
});

test('the p95 is that of the values in order, which stay as they are', () => {
  const values = Float64Array.of(3, 1, 2);
  expect(p95Of(values)).toBe(quantileOf([1, 2, 3], 0.95));
  expect([...values]).toEqual([3, 1, 2]);
});

const same = (chance: number, count: number): number[] =>
  Array.from({ length: count }, () => chance);

test.for([
  // chance, calls, three deviations below: by hand
  [0.992, 200, 0.9731],
  [0.992 ** 2, 200, 0.9575],
  [0.992, 1400, 0.9849],
  [0.5, 100, 0.35],
  [1, 200, 1],
] as const)(
  'with a probability of %f and %i calls the lowest expected share is %f',
  ([chance, calls, lowest]) => {
    expect(lowestExpected(same(chance, calls), 3)).toBeCloseTo(lowest, 4);
  },
);

test('the variance of calls with different probabilities is the sum of their variances', () => {
  const chances = [...same(0.9, 50), ...same(0.5, 50)];
  const deviation = Math.sqrt(50 * 0.09 + 50 * 0.25) / 100;
  expect(lowestExpected(chances, 2)).toBeCloseTo(0.7 - 2 * deviation, 12);
});

test('more calls raise the lowest expected share', () => {
  const chance = fc.double({ min: 0.01, max: 0.99, noNaN: true });
  fc.assert(
    fc.property(chance, fc.integer({ min: 1, max: 500 }), (p, calls) => {
      const lowest = lowestExpected(same(p, calls), 3);
      expect(lowest).toBeLessThan(p);
      expect(lowestExpected(same(p, calls * 2), 3)).toBeGreaterThan(lowest);
    }),
  );
});

test('binomial samples fall below the lowest expected share about once in 700', () => {
  const lowest = lowestExpected(same(0.9, 400), 3);
  // The exact probability of at most that many successes.
  let chance = 0.1 ** 400;
  let below = 0;
  const logs = { p: Math.log(0.9), q: Math.log(0.1) };
  let logChoose = 0;
  for (let k = 0; k < lowest * 400; k++) {
    chance = Math.exp(logChoose + k * logs.p + (400 - k) * logs.q);
    below += chance;
    logChoose += Math.log(400 - k) - Math.log(k + 1);
  }
  expect(below).toBeGreaterThan(0.0005);
  expect(below).toBeLessThan(0.004);
});

describe('the normal distribution', () => {
  // Values from tables.
  test.for([
    [0.5, 0],
    [0.75, 0.6744897501960817],
    [0.95, 1.6448536269514722],
    [0.975, 1.959963984540054],
    [0.999, 3.090232306167813],
    [0.02, -2.053748910631823],
    [1e-6, -4.753424308822899],
  ] as const)('has its quantile %f at %f', ([u, z]) => {
    expect(normalQuantile(u)).toBeCloseTo(z, 7);
  });

  test('is symmetric', () => {
    for (const u of [0.001, 0.02, 0.1, 0.3]) {
      expect(normalQuantile(u)).toBeCloseTo(-normalQuantile(1 - u), 9);
    }
  });
});

describe('a lognormal latency', () => {
  const latency = { p95Ms: 200, sigma: 0.5 };

  test('has the configured p95', () => {
    expect(lognormalQuantile(latency, 0.95)).toBeCloseTo(200, 6);
  });

  test('has its median at 0.44 of the p95 for σ 0.5', () => {
    expect(lognormalQuantile(latency, 0.5)).toBeCloseTo(
      200 * Math.exp(-0.5 * 1.6448536269514722),
      6,
    );
  });

  test('spreads by its σ: one standard deviation is a factor of e^σ', () => {
    const oneUp = lognormalQuantile(latency, 0.8413447460685429);
    expect(oneUp / lognormalQuantile(latency, 0.5)).toBeCloseTo(Math.exp(0.5), 6);
  });
});

const latency = { p95Ms: 100, sigma: 0.5 };
const drawn = (seed: number, length = 1000): Float64Array => {
  const random = seededRandom(seed);
  return Float64Array.from({ length }, () => lognormalQuantile(latency, random() || 0.5));
};
const options = { q: 0.95, seed: 1 };

/** The plain bootstrap: resample calls with replacement and sort. */
function plainBootstrap(a: Float64Array, b: Float64Array): { low: number; high: number } {
  const random = seededRandom(2);
  const ratios = Float64Array.from({ length: 400 }, () => {
    const chosen = Uint32Array.from(a, () => Math.floor(random() * a.length));
    const p95 = (values: Float64Array) => p95Of(Float64Array.from(chosen, (i) => values[i]!));
    return p95(a) / p95(b);
  });
  return { low: quantileOf(ratios.toSorted(), 0.025), high: quantileOf(ratios.toSorted(), 0.975) };
}

describe('the interval of a p95 ratio', () => {
  test('matches the plain bootstrap', () => {
    const a = drawn(1).map((ms) => ms * 1.2);
    const b = drawn(2);
    const ours = ratioInterval(a, b, options);
    const plain = plainBootstrap(a, b);
    expect(ours.low).toBeCloseTo(plain.low, 1);
    expect(ours.high).toBeCloseTo(plain.high, 1);
  });

  test('covers the true ratio about 19 times in 20', () => {
    const covered = Array.from({ length: 60 }, (_, n) => {
      const a = drawn(100 + n).map((ms) => ms * 1.1);
      const { low, high } = ratioInterval(a, drawn(300 + n), { ...options, resamples: 200 });
      return low <= 1.1 && 1.1 <= high;
    });
    expect(covered.filter(Boolean).length).toBeGreaterThanOrEqual(52);
  });

  test('is a point if one side is the other times a factor', () => {
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

  test('accepts fewer calls than blocks', () => {
    const { low, high } = ratioInterval(drawn(6, 50), drawn(7, 50), options);
    expect(low).toBeLessThanOrEqual(high);
  });
});

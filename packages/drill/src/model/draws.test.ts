import { describe, expect, test } from 'vitest';
import { derive, draw, exponential } from './draws.js';

const many = 20_000;
const sample = (of: (n: number) => number): number[] =>
  Array.from({ length: many }, (_, n) => of(n));
const mean = (values: readonly number[]): number =>
  values.reduce((a, b) => a + b, 0) / values.length;

/** How far two sequences are from being independent: 0 is not at all related. */
function correlation(a: readonly number[], b: readonly number[]): number {
  const [ma, mb] = [mean(a), mean(b)];
  const spread = (values: readonly number[], m: number) =>
    Math.sqrt(mean(values.map((v) => (v - m) ** 2)));
  return mean(a.map((v, i) => (v - ma) * (b[i]! - mb))) / (spread(a, ma) * spread(b, mb));
}

describe('a draw', () => {
  test('depends on nothing but what it is for', () => {
    expect(draw(1, 'fault', 7, 2)).toBe(draw(1, 'fault', 7, 2));
    const others = [
      draw(2, 'fault', 7, 2),
      draw(1, 'latency', 7, 2),
      draw(1, 'fault', 8, 2),
      draw(1, 'fault', 7, 1),
    ];
    expect(others).not.toContain(draw(1, 'fault', 7, 2));
  });

  test('is spread evenly over (0, 1)', () => {
    for (const seed of [0, 1, 4_294_967_295]) {
      const values = sample((n) => draw(seed, 'latency', n));
      expect(Math.min(...values)).toBeGreaterThan(0);
      expect(Math.max(...values)).toBeLessThan(1);
      for (const share of [0.05, 0.2, 0.5, 0.8, 0.95]) {
        const below = values.filter((value) => value < share).length / many;
        expect(Math.abs(below - share)).toBeLessThan(0.012);
      }
    }
  });

  test('says nothing about the next call, attempt, purpose or seed', () => {
    const these = sample((n) => draw(1, 'fault', n));
    const others = [
      sample((n) => draw(1, 'fault', n + 1)),
      sample((n) => draw(1, 'fault', n, 1)),
      sample((n) => draw(1, 'latency', n)),
      sample((n) => draw(2, 'fault', n)),
      sample((n) => draw(derive(1, 1), 'fault', n)),
    ];
    for (const those of others) expect(Math.abs(correlation(these, those))).toBeLessThan(0.03);
  });
});

test('gaps between random arrivals have the mean that was asked for', () => {
  const gaps = sample((n) => exponential(draw(3, 'arrival', n), 10));
  expect(mean(gaps)).toBeCloseTo(10, 0);
});

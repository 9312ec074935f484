import { describe, expect, test } from 'vitest';
import { lognormalQuantile, normalQuantile } from './lognormal.js';

describe('the normal distribution', () => {
  // From tables: the places where a statistician looks first, and far out in the tail.
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

  test('has the p95 it is named by', () => {
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

import { describe, expect, test } from 'vitest';
import { OutageWatch, randomOutages } from './outages.js';

describe('random outages', () => {
  const outages = randomOutages({ seed: 1, meanMs: 200, share: 0.2, untilMs: 2_000_000 });
  const downMs = outages.reduce((sum, { from, to }) => sum + to - from, 0);

  test('take the share of the time that was asked for', () => {
    expect(downMs / outages.at(-1)!.to).toBeCloseTo(0.2, 1);
    expect(downMs / outages.length).toBeGreaterThan(180);
    expect(downMs / outages.length).toBeLessThan(220);
  });

  test('come one after the other, and are the same for the same seed', () => {
    for (const [n, { from, to }] of outages.entries()) {
      expect(to).toBeGreaterThan(from);
      expect(from).toBeGreaterThan(outages[n - 1]?.to ?? 0);
    }
    expect(randomOutages({ seed: 1, meanMs: 200, share: 0.2, untilMs: 2_000_000 })).toEqual(
      outages,
    );
  });
});

test('a watch knows when the upstream is down, from the first to just before the last moment', () => {
  const watch = new OutageWatch([
    { from: 10, to: 20 },
    { from: 30, to: Infinity },
  ]);
  const down = [0, 9, 10, 19, 20, 29, 30, 1e9].map((now) => watch.isDown(now));
  expect(down).toEqual([false, false, true, true, false, false, true, true]);
});

test('without outages it never is', () => {
  expect(new OutageWatch([]).isDown(0)).toBe(false);
});

import { VirtualClock } from '@toolkeel/kernel/testing';
import { describe, expect, test } from 'vitest';
import {
  arrivalTimes,
  begin,
  derive,
  draw,
  exponential,
  OutageSchedule,
  randomOutages,
} from './model.js';

test('an open loop starts calls at the drawn times, whether or not earlier calls have ended', async () => {
  const clock = new VirtualClock();
  const run = { clock, seed: 1, calls: 500 };
  const begun: number[] = [];
  const never = new Promise<void>(() => {});
  begin({ perSecond: 100 }, run, () => (begun.push(clock.now()), never));
  await clock.drain();
  const drawn = arrivalTimes({ perSecond: 100, seed: 1, calls: 500 });
  expect(begun).toHaveLength(500);
  for (const [n, at] of begun.entries()) expect(at).toBeCloseTo(drawn[n]!, 6);
  expect(500 / (drawn.at(-1)! / 1000)).toBeGreaterThan(85);
  expect(500 / (drawn.at(-1)! / 1000)).toBeLessThan(115);
});

test('a closed loop never has more calls in flight than callers', async () => {
  const clock = new VirtualClock();
  let inFlight = 0;
  let most = 0;
  let begun = 0;
  begin({ callers: 8 }, { clock, seed: 1, calls: 100 }, async (call) => {
    expect(call).toBe(begun++);
    most = Math.max(most, ++inFlight);
    await new Promise<void>((resolve) => clock.setTimer(10, resolve));
    inFlight--;
  });
  await clock.drain();
  expect({ begun, most, inFlight }).toEqual({ begun: 100, most: 8, inFlight: 0 });
});

const many = 20_000;
const sample = (of: (n: number) => number): number[] =>
  Array.from({ length: many }, (_, n) => of(n));
const mean = (values: readonly number[]): number =>
  values.reduce((a, b) => a + b, 0) / values.length;

/** The correlation coefficient of two sequences. */
function correlation(a: readonly number[], b: readonly number[]): number {
  const [ma, mb] = [mean(a), mean(b)];
  const spread = (values: readonly number[], m: number) =>
    Math.sqrt(mean(values.map((v) => (v - m) ** 2)));
  return mean(a.map((v, i) => (v - ma) * (b[i]! - mb))) / (spread(a, ma) * spread(b, mb));
}

describe('a random number', () => {
  test('depends only on its arguments', () => {
    expect(draw(1, 'fault', 7, 2)).toBe(draw(1, 'fault', 7, 2));
    const others = [
      draw(2, 'fault', 7, 2),
      draw(1, 'latency', 7, 2),
      draw(1, 'fault', 8, 2),
      draw(1, 'fault', 7, 1),
    ];
    expect(others).not.toContain(draw(1, 'fault', 7, 2));
  });

  test('is uniform over (0, 1)', () => {
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

  test('is independent of other calls, attempts, purposes and seeds', () => {
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

test('gaps between random arrivals have the requested mean', () => {
  const gaps = sample((n) => exponential(draw(3, 'arrival', n), 10));
  expect(mean(gaps)).toBeCloseTo(10, 0);
});

describe('random outages', () => {
  const outages = randomOutages({ seed: 1, meanMs: 200, share: 0.2, untilMs: 2_000_000 });
  const downMs = outages.reduce((sum, { from, to }) => sum + to - from, 0);

  test('take the requested share of the time', () => {
    expect(downMs / outages.at(-1)!.to).toBeCloseTo(0.2, 1);
    expect(downMs / outages.length).toBeGreaterThan(180);
    expect(downMs / outages.length).toBeLessThan(220);
  });

  test('are disjoint and deterministic for a seed', () => {
    for (const [n, { from, to }] of outages.entries()) {
      expect(to).toBeGreaterThan(from);
      expect(from).toBeGreaterThan(outages[n - 1]?.to ?? 0);
    }
    expect(randomOutages({ seed: 1, meanMs: 200, share: 0.2, untilMs: 2_000_000 })).toEqual(
      outages,
    );
  });
});

test('a schedule is down from the start of an outage until before its end', () => {
  const schedule = new OutageSchedule([
    { from: 10, to: 20 },
    { from: 30, to: Infinity },
  ]);
  const down = [0, 9, 10, 19, 20, 29, 30, 1e9].map((now) => schedule.isDown(now));
  expect(down).toEqual([false, false, true, true, false, false, true, true]);
});

test('a schedule without outages is never down', () => {
  expect(new OutageSchedule([]).isDown(0)).toBe(false);
});

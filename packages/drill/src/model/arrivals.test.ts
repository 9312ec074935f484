import { VirtualClock } from '@toolkeel/kernel/testing';
import { expect, test } from 'vitest';
import { arrivalTimes, begin } from './arrivals.js';

test('an open loop begins calls at the times that were drawn, whatever becomes of them', async () => {
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

test('a closed loop has never more calls under way than callers', async () => {
  const clock = new VirtualClock();
  let underWay = 0;
  let most = 0;
  let begun = 0;
  begin({ callers: 8 }, { clock, seed: 1, calls: 100 }, async (call) => {
    expect(call).toBe(begun++);
    most = Math.max(most, ++underWay);
    await new Promise<void>((resolve) => clock.setTimer(10, resolve));
    underWay--;
  });
  await clock.drain();
  expect({ begun, most, underWay }).toEqual({ begun: 100, most: 8, underWay: 0 });
});

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rig } from '../engine/rig.fixture.js';
import { retry } from './retry-and-timeouts.js';
import { fault, type Step } from '../testing/index.js';
import { health, Ring } from './health.js';
import { RollingWindow } from './breaker.js';
import { TokenBucket } from './budget.js';

const times = (n: number, step: Step<string>): Step<string>[] =>
  Array.from({ length: n }, () => step);
const answer = (afterMs: number): Step<string> => ({ answer: 'a', afterMs });

describe('health', () => {
  it('uses a constant, then the host’s median, then the route’s', async () => {
    const known = health({ coldMedianMs: 50 });
    const { call } = rig([answer(10), answer(10), answer(10), answer(300)], [known]);
    expect(known.medianFor('search')).toBe(50);
    for (let i = 0; i < 3; i++) await call({ route: 'item' });
    expect(known.medianFor('item')).toBe(10);
    expect(known.medianFor('search')).toBe(10);
    for (let i = 0; i < 3; i++) await call({ route: 'search' });
    expect(known.medianFor('search')).toBe(300);
    expect(known.medianFor('item')).toBe(10);
  });

  it('measures successes only', async () => {
    const known = health();
    const steps = [
      answer(100),
      { fault: fault('server') },
      answer(100),
      { fault: fault('server') },
      answer(100),
    ];
    const { call } = rig(steps, [known]);
    for (let i = 0; i < 5; i++) await call();
    expect(known.medianFor(undefined)).toBe(100);
  });

  it('has no median while most attempts fail', async () => {
    const known = health();
    const steps = [...times(5, answer(20)), ...times(20, { fault: fault('server') }), answer(20)];
    const { call } = rig(steps, [known]);
    for (let i = 0; i < 25; i++) await call();
    expect(known.failureShare).toBeGreaterThan(0.4);
    expect(known.medianFor(undefined)).toBeUndefined();
    for (let i = 0; i < 20; i++) await call();
    expect(known.medianFor(undefined)).toBe(20);
  });

  describe('health for the second retry', () => {
    const short = { maxRetries: 2, initialBackoffMs: 10, jitter: 'full' } as const;
    const down: Step<string> = { fault: fault('server') };

    it('has no median without history, because two faults in a row may be a burst', () => {
      expect(health().medianFor(undefined, 0)).toBe(50);
      expect(health().medianFor(undefined, 1)).toBeUndefined();
    });

    it('has a median while quick retries succeed', async () => {
      const known = health();
      const isolated = [answer(20), answer(20), down, answer(20)];
      const steps = [...isolated, ...isolated, ...times(100, answer(20))];
      const { call } = rig(steps, [known, retry(short)]);
      for (let i = 0; i < 6; i++) await call();
      expect(known.medianFor(undefined, 1)).toBe(20);
      for (let i = 0; i < 100; i++) await call();
      expect(known.medianFor(undefined, 1)).toBeUndefined();
    });

    it('ignores slow retries', async () => {
      const known = health();
      const steps = Array.from({ length: 10 }, () => [down, answer(20)]).flat();
      const { call } = rig(steps, [known, retry({ ...short, initialBackoffMs: 200 })]);
      for (let i = 0; i < 10; i++) await call();
      expect(known.failureShare).toBeLessThanOrEqual(0.5);
      expect(known.medianFor(undefined, 1)).toBeUndefined();
    });
  });

  it('does not count rate limits and rejections as failures', async () => {
    const known = health();
    const { call } = rig([{ fault: fault('rate_limited') }, { fault: fault('rejected') }], [known]);
    for (let i = 0; i < 50; i++) await call();
    expect(known.failureShare).toBe(0);
  });

  it('keeps a bounded number of routes', async () => {
    const known = health();
    const { call } = rig([answer(10)], [known]);
    for (let i = 0; i < 300; i++) for (let n = 0; n < 3; n++) await call({ route: `r${i}` });
    expect(known.medianFor('r299')).toBe(10);
  });
});

describe('a ring of samples', () => {
  it('computes the quantiles of its last samples', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 100 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (samples, q) => {
          const ring = new Ring(32);
          for (const sample of samples) ring.add(sample);
          const last = samples.slice(-32).toSorted((a, b) => a - b);
          const value = ring.quantile(q)!;
          expect(ring.count).toBe(last.length);
          expect(value).toBeGreaterThanOrEqual(last[Math.floor(q * (last.length - 1))]!);
          expect(value).toBeLessThanOrEqual(last[Math.ceil(q * (last.length - 1))]!);
        },
      ),
    );
    expect(new Ring(4).quantile(0.5)).toBeUndefined();
  });
});

describe('a rolling window', () => {
  it('counts recent attempts and weights older ones', () => {
    const window = new RollingWindow(1000);
    for (let i = 0; i < 10; i++) window.add(i < 4 ? 1 : 0, 0);
    expect(window.sum(999)).toEqual({ ended: 10, failures: 4 });
    expect(window.sum(1500)).toEqual({ ended: 5, failures: 2 });
    expect(window.sum(2000)).toEqual({ ended: 0, failures: 0 });
  });

  it('never counts more than were added, nor more failures than attempts', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(700), fc.boolean()), { maxLength: 60 }), (events) => {
        const window = new RollingWindow(1000);
        let now = 0;
        for (const [step, failed] of events) {
          now += step;
          window.add(failed ? 1 : 0, now);
          const { ended, failures } = window.sum(now);
          expect(failures).toBeLessThanOrEqual(ended + 1e-9);
          expect(failures).toBeGreaterThanOrEqual(0);
        }
        expect(window.sum(now).ended).toBeLessThanOrEqual(events.length);
      }),
    );
  });
});

describe('a token bucket', () => {
  it('stays between zero and its capacity', () => {
    const actions = fc.array(fc.tuple(fc.constantFrom('earn', 'take'), fc.nat(5000)), {
      maxLength: 80,
    });
    fc.assert(
      fc.property(actions, fc.integer({ min: 1, max: 20 }), (steps, capacity) => {
        const bucket = new TokenBucket({ capacity, perSuccess: 0.3, perSecond: 0.2 });
        let now = 0;
        for (const [action, ms] of steps) {
          now += ms;
          const before = bucket.tokens;
          if (action === 'earn') bucket.earn();
          else if (bucket.take(now)) expect(before + (ms * 80) / 1000).toBeGreaterThanOrEqual(0);
          expect(bucket.tokens).toBeGreaterThanOrEqual(0);
          expect(bucket.tokens).toBeLessThanOrEqual(capacity);
        }
      }),
    );
  });
});

const ringOf = (samples: readonly number[], size = 32): Ring => {
  const ring = new Ring(size);
  for (const sample of samples) ring.add(sample);
  return ring;
};

describe('a ring of samples', () => {
  it('is empty at first', () => {
    expect(new Ring(4).quantile(0.5)).toBeUndefined();
  });

  it('interpolates between samples', () => {
    expect(ringOf([30, 10]).quantile(0.5)).toBe(20);
    expect(ringOf(Array<number>(32).fill(7)).quantile(0.85)).toBe(7);
  });

  it('drops the oldest sample when it is full', () => {
    const ring = ringOf([1000, 1000, 1, 2, 3, 4], 4);
    expect(ring.count).toBe(4);
    expect(ring.quantile(1)).toBe(4);
  });

  it('matches a sort, without side effects', () => {
    const samples = fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), {
      minLength: 1,
      maxLength: 64,
    });
    fc.assert(
      fc.property(samples, fc.double({ min: 0, max: 1, noNaN: true }), (values, q) => {
        const ring = ringOf(values, 64);
        const sorted = values.toSorted((a, b) => a - b);
        const place = q * (sorted.length - 1);
        const low = sorted[Math.floor(place)]!;
        const high = sorted[Math.ceil(place)]!;
        const expected = low + (high - low) * (place - Math.floor(place));
        expect(ring.quantile(q)).toBeCloseTo(expected, 6);
        expect(ring.quantile(q)).toBe(ring.quantile(q));
      }),
    );
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createFaultInjector } from './injector.js';
import { CONNECTION, fastFaults, isFaultKind, namedFaults, paceOf } from './kinds.js';
import { type FaultRule, type Latency, sampleLatency } from './rules.js';
import { randomOf } from '../random.js';

const arrival = { route: 'search', method: 'GET', fingerprint: '' };
const drawn = (faults: readonly FaultRule[], count: number, seed = 1) => {
  const injector = createFaultInjector({ seed, faults });
  return Array.from({ length: count }, () => injector.plan(arrival).fault?.kind);
};
const shareOf = (kinds: readonly unknown[], wanted: unknown) =>
  kinds.filter((kind) => kind === wanted).length / kinds.length;

describe('draws', () => {
  test('have the given rate, and rates add up', () => {
    const kinds = drawn(
      [
        { kind: 'http-503', rate: 0.16 },
        { kind: 'stall', rate: 0.04 },
      ],
      20_000,
    );
    expect(Math.abs(shareOf(kinds, 'http-503') - 0.16)).toBeLessThan(0.01);
    expect(Math.abs(shareOf(kinds, 'stall') - 0.04)).toBeLessThan(0.006);
  });

  test('are independent of each other', () => {
    const faulted = drawn([{ kind: 'http-503', rate: 0.2 }], 40_000).map(
      (kind) => kind !== undefined,
    );
    for (const gap of [1, 2, 3]) {
      const pairs = faulted.filter((hit, at) => hit && faulted[at + gap]).length;
      expect(Math.abs(pairs / faulted.length - 0.04)).toBeLessThan(0.005);
    }
    // Three in a row defeat two retries: 0.8 %.
    const runs = faulted.filter((hit, at) => hit && faulted[at + 1] && faulted[at + 2]).length;
    expect(Math.abs(runs / faulted.length - 0.008)).toBeLessThan(0.002);
  });

  test('of several kinds are uniform', () => {
    const kinds = drawn([{ kind: fastFaults, rate: 1 }], 16_000);
    for (const kind of fastFaults)
      expect(Math.abs(shareOf(kinds, kind) - 1 / fastFaults.length)).toBeLessThan(0.01);
  });

  test('are determined by the seed, also after a restart', () => {
    const rules: FaultRule[] = [{ kind: ['http-500', 'http-503'], rate: 0.3, skip: 2, times: 5 }];
    expect(drawn(rules, 50, 7)).toEqual(drawn(rules, 50, 7));
    expect(drawn(rules, 50, 7)).not.toEqual(drawn(rules, 50, 8));
    const injector = createFaultInjector({ seed: 7, faults: rules, latency: { p95Ms: 100 } });
    const take = () => Array.from({ length: 50 }, () => injector.plan(arrival));
    const first = take();
    injector.restart();
    expect(take()).toEqual(first);
    injector.restart(8);
    expect(take()).not.toEqual(first);
  });

  test('on one route do not change those on another', () => {
    const faults: FaultRule[] = [{ kind: 'http-500', rate: 0.5 }];
    const alone = createFaultInjector({ seed: 1, faults });
    const mixed = createFaultInjector({ seed: 1, faults });
    for (let turn = 0; turn < 50; turn += 1) {
      mixed.plan({ ...arrival, route: 'item' });
      expect(mixed.plan(arrival)).toEqual(alone.plan(arrival));
    }
  });

  test('respect skip and times', () => {
    const kinds = drawn(
      [
        { kind: 'http-500', skip: 2, times: 3 },
        { kind: 'http-502', rate: 0 },
      ],
      10,
    );
    expect(kinds.map((kind) => kind !== undefined)).toEqual(
      [0, 0, 1, 1, 1, 0, 0, 0, 0, 0].map(Boolean),
    );
  });

  test('are separate for connections and requests', () => {
    const injector = createFaultInjector({
      seed: 1,
      faults: [{ kind: 'reset-on-connect' }, { kind: 'http-500' }],
    });
    expect(injector.plan(arrival).fault?.kind).toBe('http-500');
    expect(injector.plan({ ...arrival, route: CONNECTION }).fault?.kind).toBe('reset-on-connect');
  });

  test('by request count repetitions of each request', () => {
    const injector = createFaultInjector({
      seed: 1,
      faults: [{ kind: 'http-500', rate: 0.5 }],
      drawBy: 'request',
    });
    const take = (fingerprint: string) =>
      injector.plan({ ...arrival, fingerprint }).fault !== undefined;
    const first = Array.from({ length: 40 }, () => take('a'));
    expect(new Set(first).size).toBe(2);
    injector.restart();
    expect(
      Array.from({ length: 40 }, () => {
        take('b');
        return take('a');
      }),
    ).toEqual(first);
  });
});

describe('latency', () => {
  const latencyAt = (latency: Latency, count: number): number[] => {
    const random = randomOf('latency');
    return Array.from({ length: count }, () => sampleLatency(latency, 'search', random)).toSorted(
      (a, b) => a - b,
    );
  };

  test('is lognormal around its 95th percentile', () => {
    for (const [p95Ms, sigma] of [
      [50, 0.5],
      [200, 0.5],
      [1000, 0.25],
    ] as const) {
      const sorted = latencyAt({ p95Ms, sigma }, 20_000);
      const p95 = sorted[19_000] ?? 0;
      expect(Math.abs(p95 / p95Ms - 1)).toBeLessThan(0.04);
      const median = sorted[10_000] ?? 0;
      expect(Math.abs(Math.log(p95Ms / median) / 1.645 / sigma - 1)).toBeLessThan(0.05);
    }
  });

  test('can be fixed, and set for a route', () => {
    const latency: Latency = { fixedMs: 5, routes: { search: { fixedMs: 7 } } };
    expect(latencyAt(latency, 1)).toEqual([7]);
    expect(sampleLatency(latency, 'toString', () => 0.5)).toBe(5);
  });

  test('is the same with and without faults, and a fast fault takes a tenth', () => {
    const latency: Latency = { p95Ms: 100 };
    const calm = createFaultInjector({ seed: 3, latency });
    const wild = createFaultInjector({
      seed: 3,
      latency,
      faults: [{ kind: 'http-503', rate: 0.5 }],
    });
    for (let turn = 0; turn < 100; turn += 1) {
      const [a, b] = [calm.plan(arrival), wild.plan(arrival)];
      expect(b.latencyMs).toBe(a.latencyMs);
      expect(b.waitMs).toBeCloseTo(b.fault ? a.latencyMs / 10 : a.latencyMs, 9);
    }
    const slow = createFaultInjector({
      seed: 3,
      latency,
      faults: [{ kind: 'http-503', pace: 2 }],
    }).plan(arrival);
    expect(slow.waitMs).toBeCloseTo(slow.latencyMs * 2, 9);
  });
});

test('kinds of faults are known by name or status', () => {
  for (const kind of namedFaults) expect(isFaultKind(kind)).toBe(true);
  expect(['http-500', 'http-429', 'http-400', 'acted-http-503'].every(isFaultKind)).toBe(true);
  fc.assert(
    fc.property(fc.string(), (text) => {
      if (isFaultKind(text)) expect(paceOf(text)).toBeGreaterThan(0);
    }),
  );
  expect(['http-200', 'http-600', 'http-', 'acted-http-201', 'fire'].some(isFaultKind)).toBe(false);
});

test('a fault that cannot hit a route is left for one that it can hit', () => {
  const { plan, setFaults } = createFaultInjector({ seed: 1 });
  const at = (route: string, can: boolean) =>
    plan({ route, method: 'GET', fingerprint: '', canHave: () => can }).fault?.kind;
  setFaults([{ kind: 'stall', times: 1 }]);
  expect([at('cli', false), at('messages', true), at('messages', true)]).toEqual([
    undefined,
    'stall',
    undefined,
  ]);
  // A rule that names the route means it.
  setFaults([{ kind: 'stall', routes: ['cli'] }]);
  expect(at('cli', false)).toBe('stall');
});

import { attemptTimeout, compose, type Outcome } from '@toolkeel/kernel';
import { VirtualClock } from '@toolkeel/kernel/testing';
import { describe, expect, test } from 'vitest';
import { lognormalQuantile, quantileOf } from '../stats/stats.js';
import { draw, faultModes } from './model.js';
import { SimulatedUpstream, type UpstreamOptions } from './simulated-upstream.js';

const latency = { p95Ms: 200, sigma: 0.5 };

/** Makes `calls` calls, one every `everyMs`, and returns the time and outcome of each. */
async function call(options: Partial<UpstreamOptions>, everyMs = 0) {
  const clock = new VirtualClock();
  const calls = options.calls ?? 1;
  const upstream = new SimulatedUpstream({
    seed: 1,
    latency,
    faults: faultModes.none,
    ...options,
    clock,
    calls,
  });
  const plain = compose([attemptTimeout(6000)], { effect: 'read', clock }).wrap(upstream.handle);
  const answers: { outcome: Outcome<number>; tookMs: number }[] = [];
  for (let n = 0; n < calls; n++) {
    clock.setTimer(n * everyMs, () => {
      const at = clock.now();
      void plain.outcome(n).then((outcome) => (answers[n] = { outcome, tookMs: clock.now() - at }));
    });
  }
  await clock.drain();
  return { upstream, answers, failed: answers.filter(({ outcome }) => !outcome.ok) };
}

const answerMs = (n: number): number => lognormalQuantile(latency, draw(1, 'latency', n));

describe('a simulated upstream', () => {
  test('answers with the configured latency distribution', async () => {
    const { answers, failed } = await call({ calls: 20_000 });
    const took = Float64Array.from(answers, ({ tookMs }) => tookMs).toSorted();
    expect(failed).toEqual([]);
    expect(quantileOf(took, 0.95)).toBeGreaterThan(195);
    expect(quantileOf(took, 0.95)).toBeLessThan(205);
    expect(quantileOf(took, 0.5)).toBeCloseTo(lognormalQuantile(latency, 0.5), -1);
  });

  test.for(['fast', 'half', 'same'] as const)('fails one request in five, %s', async (mode) => {
    const { answers, failed } = await call({ calls: 5000, faults: faultModes[mode] });
    expect(failed.length / 5000).toBeCloseTo(0.2, 1);
    const n = answers.findIndex(({ outcome }) => !outcome.ok);
    expect(answers[n]!.tookMs).toBeCloseTo(answerMs(n) * faultModes[mode].share, 9);
  });

  test('lets one fault in five hang until the client times out', async () => {
    const { failed } = await call({ calls: 5000, faults: faultModes.mix });
    const hung = failed.filter(({ tookMs }) => tookMs >= 6000);
    expect(hung.length / failed.length).toBeCloseTo(0.2, 1);
    const ended = hung.map(({ outcome }) => (outcome.ok ? undefined : outcome.fault.clock));
    expect(new Set(ended)).toEqual(new Set(['attempt']));
  });

  test('counts every request for its call', async () => {
    const { upstream } = await call({ calls: 3 });
    expect([...upstream.attempts]).toEqual([1, 1, 1]);
  });

  test('rejects new requests in an outage and answers in-flight requests', async () => {
    const outages = [{ from: 1, to: Infinity }];
    const { answers } = await call({ calls: 2, outages }, 2);
    expect(answers.map(({ outcome }) => outcome.ok)).toEqual([true, false]);
    expect(answers[1]!.tookMs).toBeCloseTo(answerMs(1) * 0.1, 9);
  });

  test('fails in-flight requests when it crashes', async () => {
    const outages = [{ from: 1, to: Infinity }];
    const { answers } = await call({ calls: 2, outages, outageKind: 'crashes' }, 2);
    expect(answers.map(({ outcome }) => outcome.ok)).toEqual([false, false]);
    expect(answers[0]!.tookMs).toBe(1);
  });

  test('never answers when it hangs', async () => {
    const outages = [{ from: 1, to: Infinity }];
    const { answers } = await call({ calls: 2, outages, outageKind: 'hangs' }, 2);
    expect(answers.map(({ tookMs }) => tookMs)).toEqual([6000, 6000]);
  });

  test('sheds load above its capacity', async () => {
    const calm = await call({ calls: 1000, capacity: 200 }, 10);
    const flooded = await call({ calls: 1000, capacity: 50 }, 10);
    expect(calm.failed).toEqual([]);
    expect(flooded.failed.length / 1000).toBeCloseTo(0.5, 1);
  });
});

import { describe, expect, it } from 'vitest';
import { compose } from '../engine/pipeline.js';
import { faultOf } from '../engine/rig.fixture.js';
import { deadline } from '../layers/retry-and-timeouts.js';
import { fault, injectFaults, seededRandom, VirtualClock, type FaultInjection } from './index.js';

describe('VirtualClock', () => {
  it('fires timers in order, with promises in between', async () => {
    const clock = new VirtualClock({ startAt: 5, epoch: 1000 });
    const seen: string[] = [];
    const note = (name: string) => (): void => {
      seen.push(`${name}@${clock.now()}`);
      void Promise.resolve().then(() => seen.push(`after ${name}`));
    };
    clock.setTimer(20, note('late'));
    clock.setTimer(10, note('first'));
    clock.setTimer(10, note('second'));
    clock.clearTimer(clock.setTimer(15, note('cleared')));
    await clock.advance(15);
    expect(seen).toEqual(['first@15', 'after first', 'second@15', 'after second']);
    expect([clock.now(), clock.wallNow(), clock.pending]).toEqual([20, 1015, 1]);
    await clock.drain();
    expect(seen.at(-2)).toBe('late@25');
  });

  it('fires timers that are set during an advance', async () => {
    const clock = new VirtualClock();
    let beats = 0;
    const beat = (): void => {
      beats++;
      clock.setTimer(10, beat);
    };
    clock.setTimer(10, beat);
    await clock.advance(10_000);
    expect(beats).toBe(1000);
  });

  it('throws if a promise can never settle', async () => {
    await expect(new VirtualClock().run(new Promise(() => {}))).rejects.toThrow(/no timer is left/);
  });

  it('propagates a rejection', async () => {
    await expect(new VirtualClock().run(Promise.reject(new Error('no')))).rejects.toThrow('no');
  });

  it('ignores a timer that is cleared twice or after it fired', async () => {
    const clock = new VirtualClock();
    const timer = clock.setTimer(1, () => {});
    await clock.advance(1);
    clock.clearTimer(timer);
    clock.clearTimer(timer);
    expect(clock.pending).toBe(0);
  });
});

describe('seededRandom', () => {
  it('is deterministic per seed', () => {
    const draw = (seed: number): number[] => Array.from({ length: 5 }, seededRandom(seed));
    expect(draw(1)).toEqual(draw(1));
    expect(draw(1)).not.toEqual(draw(2));
  });

  it('is uniform over [0, 1)', () => {
    const random = seededRandom(3);
    const tenths = Array<number>(10).fill(0);
    for (let i = 0; i < 100_000; i++) tenths[Math.floor(random() * 10)]!++;
    for (const count of tenths) expect(Math.abs(count - 10_000)).toBeLessThan(400);
  });
});

describe('injectFaults', () => {
  const shares = async (options: FaultInjection, calls = 2000): Promise<Record<string, number>> => {
    const clock = options.clock as VirtualClock;
    const call = compose([injectFaults(options), deadline(1000)], { effect: 'read', clock }).wrap(
      () => 'ok',
    );
    const counts: Record<string, number> = {};
    for (let i = 0; i < calls; i++) {
      const outcome = await clock.run(call.outcome(undefined));
      const kind = outcome.ok ? 'ok' : outcome.fault.kind;
      counts[kind] = (counts[kind] ?? 0) + 1;
    }
    return counts;
  };

  it('fails the given share of attempts with the given faults', async () => {
    const clock = new VirtualClock();
    const counts = await shares({
      rate: 0.2,
      faults: [fault('server'), fault('network')],
      random: seededRandom(1),
      clock,
    });
    expect(counts['ok']! / 2000).toBeCloseTo(0.8, 1);
    expect(counts['server']! / 2000).toBeCloseTo(0.1, 1);
    expect(Object.keys(counts).toSorted()).toEqual(['network', 'ok', 'server']);
  });

  it('applies latency and hangs', async () => {
    const clock = new VirtualClock();
    const slow = injectFaults({ rate: 1, faults: [fault('server')], latencyMs: 70, clock });
    const call = compose([slow, deadline(1000)], { effect: 'read', clock }).wrap(() => 'ok');
    await clock.run(call.outcome(undefined));
    expect(clock.now()).toBe(70);
    expect(await shares({ rate: 1, faults: ['hang'], clock }, 2)).toEqual({ timeout: 2 });
  });

  it('stops waiting when the attempt ends', async () => {
    const clock = new VirtualClock();
    const slow = injectFaults({ rate: 1, latencyMs: () => 5000, clock });
    const call = compose([slow, deadline(100)], { effect: 'read', clock }).wrap(() => 'ok');
    expect(faultOf(await clock.run(call.outcome(undefined))).clock).toBe('deadline');
    expect(clock.pending).toBe(0);
  });

  it('fails all attempts during a burst, and none outside', async () => {
    const clock = new VirtualClock();
    const burst = injectFaults({ rate: 0, bursts: [{ from: 100, to: 200 }], clock });
    const call = compose([burst], { effect: 'read', clock }).wrap(() => 'ok');
    const ok: boolean[] = [];
    for (const at of [99, 100, 199, 200]) {
      await clock.advanceTo(at);
      ok.push((await call.outcome(undefined)).ok);
    }
    expect(ok).toEqual([true, false, false, true]);
  });

  it('rejects an invalid rate and an empty list of faults', () => {
    expect(() => injectFaults({ rate: 1.5 })).toThrow(/^injectFaults.rate/);
    expect(() => injectFaults({ rate: 0.5, faults: [] })).toThrow(/^injectFaults.faults/);
  });
});

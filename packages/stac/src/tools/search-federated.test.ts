import { VirtualClock } from '@toolkeel/kernel/testing';
import { describe, expect, it } from 'vitest';
import { gather } from './search-federated.js';

describe('gathering', () => {
  const after = <T>(clock: VirtualClock, ms: number, value: T) =>
    new Promise<T>((resolve) => {
      clock.setTimer(ms, () => resolve(value));
    });
  const failing = (clock: VirtualClock, ms: number) =>
    new Promise<never>((_, reject) => {
      clock.setTimer(ms, () => reject(new Error('failed')));
    });

  it('waits for all while there is patience', async () => {
    const clock = new VirtualClock();
    const results = await clock.run(
      gather([after(clock, 10, 'a'), after(clock, 50, 'b')], 100, clock),
    );
    expect(results).toEqual([
      { ok: true, value: 'a' },
      { ok: true, value: 'b' },
    ]);
    expect(clock.now()).toBe(50);
  });

  it('leaves stragglers behind once somebody has answered', async () => {
    const clock = new VirtualClock();
    const results = await clock.run(
      gather([after(clock, 10, 'a'), after(clock, 500, 'b')], 100, clock),
    );
    expect(results).toEqual([{ ok: true, value: 'a' }, { ok: 'late' }]);
    expect(clock.now()).toBe(100);
  });

  it('waits for the first success beyond its patience', async () => {
    const clock = new VirtualClock();
    const results = await clock.run(
      gather([failing(clock, 10), after(clock, 500, 'b'), after(clock, 900, 'c')], 100, clock),
    );
    expect(results).toMatchObject([{ ok: false }, { ok: true, value: 'b' }, { ok: 'late' }]);
    expect(clock.now()).toBe(500);
  });

  it('waits to the end where nobody succeeds', async () => {
    const clock = new VirtualClock();
    const results = await clock.run(gather([failing(clock, 10), failing(clock, 500)], 100, clock));
    expect(results).toMatchObject([{ ok: false }, { ok: false }]);
    expect(clock.now()).toBe(500);
  });

  it('has nothing to wait for without tasks', async () => {
    const clock = new VirtualClock();
    expect(await clock.run(gather([], 100, clock))).toEqual([]);
  });
});

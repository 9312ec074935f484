import { VirtualClock } from '@toolkeel/kernel/testing';
import { describe, expect, it } from 'vitest';
import { settleAll } from './federation.js';

describe('settleAll', () => {
  const after = <T>(clock: VirtualClock, ms: number, value: T) =>
    new Promise<T>((resolve) => {
      clock.setTimer(ms, () => resolve(value));
    });
  const failing = (clock: VirtualClock, ms: number) =>
    new Promise<never>((_, reject) => {
      clock.setTimer(ms, () => reject(new Error('failed')));
    });

  it('waits for all tasks within the wait budget', async () => {
    const clock = new VirtualClock();
    const results = await clock.run(
      settleAll([after(clock, 10, 'a'), after(clock, 50, 'b')], 100, clock),
    );
    expect(results).toEqual([
      { ok: true, value: 'a' },
      { ok: true, value: 'b' },
    ]);
    expect(clock.now()).toBe(50);
  });

  it('marks slow tasks as late after the wait budget if one task succeeded', async () => {
    const clock = new VirtualClock();
    const results = await clock.run(
      settleAll([after(clock, 10, 'a'), after(clock, 500, 'b')], 100, clock),
    );
    expect(results).toEqual([{ ok: true, value: 'a' }, { ok: 'late' }]);
    expect(clock.now()).toBe(100);
  });

  it('waits beyond the budget for the first success', async () => {
    const clock = new VirtualClock();
    const results = await clock.run(
      settleAll([failing(clock, 10), after(clock, 500, 'b'), after(clock, 900, 'c')], 100, clock),
    );
    expect(results).toMatchObject([{ ok: false }, { ok: true, value: 'b' }, { ok: 'late' }]);
    expect(clock.now()).toBe(500);
  });

  it('waits for all tasks if none succeeds', async () => {
    const clock = new VirtualClock();
    const results = await clock.run(
      settleAll([failing(clock, 10), failing(clock, 500)], 100, clock),
    );
    expect(results).toMatchObject([{ ok: false }, { ok: false }]);
    expect(clock.now()).toBe(500);
  });

  it('resolves at once without tasks', async () => {
    const clock = new VirtualClock();
    expect(await clock.run(settleAll([], 100, clock))).toEqual([]);
  });
});

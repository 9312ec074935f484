import {
  bulkhead,
  compose,
  deadline,
  FaultError,
  health,
  hedge,
  retry,
  systemClock,
} from '@toolkeel/kernel';
import { fault } from '@toolkeel/kernel/testing';
import { describe, expect, it, vi } from 'vitest';

const stuck = (): Promise<string> => new Promise(() => {});
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('in real time', () => {
  const waits = {
    'a backoff': () =>
      compose([retry({ initialBackoffMs: 60_000 })], { effect: 'read' }).wrap(() =>
        Promise.reject(new FaultError(fault('server'))),
      ),
    'a queue': () => {
      const guarded = compose([bulkhead({ limit: 1, queue: 5 })], { effect: 'read' }).wrap(stuck);
      void guarded.outcome(undefined);
      return guarded;
    },
    'a hedge': () =>
      compose([health(), hedge({ minSamples: 1 }), retry()], { effect: 'read' }).wrap(stuck),
    'a deaf callee': () => compose([deadline(60_000)], { effect: 'read' }).wrap(stuck),
  };

  it.each(Object.entries(waits))(
    'an abort ends %s in the same turn of the event loop',
    async (_, make) => {
      const guarded = make();
      const caller = new AbortController();
      const outcome = guarded.outcome(undefined, { signal: caller.signal });
      await turn();
      const reason = { mine: true };
      caller.abort(reason);
      const answer = await Promise.race([outcome, turn()]);
      expect(answer?.ok === false && answer.fault.cause).toBe(reason);
    },
  );

  it('a deadline is not early, and at most 100 ms later than a bare timer', async () => {
    const guarded = compose([deadline(100)], { effect: 'read' }).wrap(stuck);
    const late: number[] = [];
    // The process may be held up between the two timers, but hardly five times in a row.
    for (let round = 0; round < 5; round++) {
      const from = systemClock.now();
      const control = new Promise<number>((resolve) => {
        setTimeout(() => resolve(systemClock.now() - from), 100);
      });
      await guarded.outcome(undefined);
      const elapsed = systemClock.now() - from;
      expect(elapsed).toBeGreaterThanOrEqual(100);
      late.push(elapsed - (await control));
    }
    expect(Math.min(...late)).toBeLessThan(100);
  });

  it('a deadline fires after fake timers of a test took the shared timer away', async () => {
    const guarded = compose([deadline(100)], { effect: 'read' }).wrap(stuck);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const outcome = guarded.outcome(undefined);
    vi.useRealTimers();
    await new Promise((resolve) => setTimeout(resolve, 120));
    await guarded.outcome(undefined);
    expect(await outcome).toMatchObject({ ok: false, fault: { clock: 'deadline' } });
  });

  it('a delay below a millisecond is not rounded up', async () => {
    const fire = (ms: number): Promise<number> =>
      new Promise((resolve) => {
        const from = systemClock.now();
        systemClock.setTimer(ms, () => resolve(systemClock.now() - from));
      });
    const waits: number[] = [];
    for (let round = 0; round < 200; round++) waits.push(await fire(0.2));
    expect(Math.min(...waits)).toBeLessThan(1);
  });

  it('a timer of either kind can be cleared', async () => {
    let fired = 0;
    for (const ms of [0, 5]) systemClock.clearTimer(systemClock.setTimer(ms, () => fired++));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(fired).toBe(0);
  });
});

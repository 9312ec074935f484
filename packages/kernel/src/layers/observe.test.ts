import { describe, expect, it } from 'vitest';
import { rig } from '../engine/rig.fixture.js';
import { fault, type Step } from '../testing/index.js';
import { attemptTimeout, deadline, idle, retry } from './retry-and-timeouts.js';
import { counters, observe } from './observe.js';
import { budget } from './budget.js';

const down: Step<string> = { fault: fault('server') };
const quick = retry({ maxRetries: 2, initialBackoffMs: 10 });

describe('observers', () => {
  it('receive all events of a call under one id', async () => {
    const { call, events, types } = rig(
      [{ hang: true }, down, { answer: 'c' }],
      [quick, attemptTimeout(100)],
    );
    await call({ correlationId: 'req-7' });
    expect(types()).toEqual([
      'timeout_abort',
      'attempt_end',
      'retry_attempt',
      'attempt_end',
      'retry_attempt',
      'attempt_end',
      'call_end',
    ]);
    expect(new Set(events.map(({ correlationId }) => correlationId))).toEqual(new Set(['req-7']));
    expect(events[2]).toMatchObject({ attempt: 1, afterMs: 10, fault: { clock: 'attempt' } });
    expect(events.at(-1)).toMatchObject({ attempts: 3, elapsedMs: 130 });
  });

  it('receive the give-up reason and the deadline', async () => {
    const { call, types, events } = rig([down], [quick]);
    await call();
    expect(types().slice(-2)).toEqual(['retry_give_up', 'call_end']);
    expect(events.at(-2)).toMatchObject({ reason: 'exhausted', attempts: 3 });
    const late = rig([{ hang: true }], [quick, deadline(100)]);
    await late.call();
    expect(late.types()).toContain('timeout_abort');
    expect(late.events.find(({ type }) => type === 'timeout_abort')).toMatchObject({
      clock: 'deadline',
      elapsedMs: 100,
    });
  });

  it('receive retryDropped when a call is aborted during a backoff', async () => {
    const ending = new AbortController();
    const { call, events, clock } = rig([down], [quick]);
    clock.setTimer(5, () => ending.abort());
    await call({ signal: ending.signal });
    expect(events.filter(({ type }) => type === 'retry_attempt')).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ type: 'call_end', attempts: 1, retryDropped: true });
    const whole = rig([down], [quick]);
    await whole.call();
    expect(whole.events.at(-1)).not.toHaveProperty('retryDropped');
  });

  it('receive no retry_give_up if no retry was possible', async () => {
    const { call, types } = rig([{ fault: fault('rejected') }], [quick]);
    await call();
    expect(types()).toEqual(['attempt_end', 'call_end']);
  });

  it('receive a generated id that is the same for the whole call', async () => {
    const { call, events } = rig([down, { answer: 'b' }], [quick]);
    await call();
    await call();
    const ids = new Set(events.map(({ correlationId }) => correlationId));
    expect(ids.size).toBe(2);
    expect(events[0]!.correlationId).toBe(events[1]!.correlationId);
  });

  it('cannot change the outcome of a call', async () => {
    const rude = observe(() => {
      throw new Error('the log is full');
    });
    const { call } = rig([down, { answer: 'b' }], [quick, rude]);
    expect(await call()).toEqual({ ok: true, value: 'b' });
  });

  it('may reject: a listener’s rejected promise is ignored', async () => {
    const failing = async (): Promise<void> => {
      await Promise.resolve();
      throw new Error('the log is full');
    };
    const slow = observe(() => failing());
    const { call } = rig([{ answer: 'a' }], [slow]);
    expect((await call()).ok).toBe(true);
    await new Promise((resolve) => setImmediate(resolve));
  });

  it('receive the idle timeout of an attempt', async () => {
    const { call, events } = rig([{ hang: true }, { answer: 'b' }], [quick, idle(50)]);
    await call();
    expect(events[0]).toMatchObject({ type: 'timeout_abort', clock: 'idle', elapsedMs: 50 });
  });
});

describe('counters', () => {
  it('count calls, attempts, retries, timeouts and exhausted calls', async () => {
    const counts = counters();
    const steps: Step<string>[] = [
      { answer: 'a' },
      down,
      { answer: 'b' },
      down,
      down,
      down,
      { fault: fault('rejected') },
      { hang: true },
    ];
    const { call } = rig(steps, [quick, deadline(1000), counts]);
    for (let i = 0; i < 5; i++) await call();
    expect({ ...counts }).toEqual({
      name: 'counters',
      calls: 5,
      failures: 3,
      attempts: 1 + 2 + 3 + 1 + 1,
      retries: 3,
      timeouts: 1,
      exhausted: 1,
    });
  });

  it('count a retry that the budget refused as exhausted', async () => {
    const counts = counters();
    const { call } = rig(
      [down],
      [quick, counts, budget({ capacity: 0.5, perSuccess: 0, perSecond: 0 })],
    );
    await call();
    expect(counts.exhausted).toBe(1);
  });
});

import { describe, expect, it } from 'vitest';
import { faultOf, rig } from '../engine/rig.fixture.js';
import { compose } from '../engine/pipeline.js';
import { FaultError } from '../fault.js';
import { fault, VirtualClock } from '../testing/index.js';
import { breaker } from './breaker.js';
import { bulkhead } from './bulkhead.js';
import { deadline, retry } from './retry-and-timeouts.js';
import { counters } from './observe.js';

const slow = { answer: 'ok', afterMs: 100 };

describe('a bulkhead', () => {
  it('admits up to the limit, queues, and rejects the rest', async () => {
    const doors = bulkhead({ limit: 2, queue: 3 });
    const { begin, clock, upstream } = rig([slow], [doors]);
    const outcomes = Array.from({ length: 6 }, () => begin());
    expect(faultOf(await outcomes[5]!)).toEqual({ kind: 'overloaded', sent: 'no' });
    expect(clock.now()).toBe(0);
    expect([doors.inFlight, doors.queued]).toEqual([2, 3]);
    await clock.run(Promise.all(outcomes));
    expect(upstream.requests.map(({ at }) => at)).toEqual([0, 0, 100, 100, 200]);
    expect([doors.inFlight, doors.queued]).toEqual([0, 0]);
  });

  it('has no queue by default', async () => {
    const { begin } = rig([slow], [bulkhead({ limit: 1 })]);
    void begin();
    expect(faultOf(await begin()).kind).toBe('overloaded');
  });

  it('keeps a call’s slot during a backoff', async () => {
    const doors = bulkhead({ limit: 1 });
    const { begin, clock } = rig(
      [{ fault: fault('server') }, slow],
      [doors, retry({ initialBackoffMs: 50 })],
    );
    const first = begin();
    await clock.advance(20);
    expect(faultOf(await begin()).kind).toBe('overloaded');
    expect((await clock.run(first)).ok).toBe(true);
  });

  it('removes a call that aborts in the queue', async () => {
    const doors = bulkhead({ limit: 1, queue: 2 });
    const { begin, clock, upstream } = rig([slow], [doors]);
    const controller = new AbortController();
    const first = begin();
    const leaving = begin({ signal: controller.signal });
    const third = begin();
    await clock.advance(10);
    controller.abort('gone');
    expect(faultOf(await leaving)).toEqual({ kind: 'cancelled', sent: 'no', cause: 'gone' });
    expect(clock.now()).toBe(10);
    await clock.run(Promise.all([first, third]));
    expect(upstream.requests.map(({ at }) => at)).toEqual([0, 100]);
    expect([doors.inFlight, doors.queued]).toEqual([0, 0]);
  });

  it('removes a queued call at its deadline', async () => {
    const doors = bulkhead({ limit: 1, queue: 1 });
    const { begin, clock, upstream } = rig([{ hang: true }], [doors]);
    void begin();
    const waiting = begin({ timeoutMs: 70 });
    expect(faultOf(await clock.run(waiting))).toEqual({
      kind: 'timeout',
      sent: 'no',
      clock: 'deadline',
    });
    expect(clock.now()).toBe(70);
    expect(upstream.requests).toHaveLength(1);
    expect(doors.queued).toBe(0);
  });

  it('counts the time in the queue towards the deadline', async () => {
    const { begin, clock } = rig([slow], [bulkhead({ limit: 1, queue: 1 }), deadline(150)]);
    const first = begin();
    const second = begin();
    expect((await clock.run(first)).ok).toBe(true);
    expect(faultOf(await clock.run(second)).clock).toBe('deadline');
    expect(clock.now()).toBe(150);
  });

  it('admits queued calls in order and counts rejected ones', async () => {
    const counts = counters();
    const { begin, clock, types } = rig([slow], [bulkhead({ limit: 1, queue: 1 }), counts]);
    await clock.run(Promise.all([begin(), begin(), begin()]));
    expect(counts).toMatchObject({ calls: 3, failures: 1, attempts: 2 });
    expect(types()).toContain('queue_wait');
  });

  it.each([
    [
      'an open circuit',
      [breaker({ minimumAttempts: 5, openAfterMs: 0, openMs: 60_000, maxOpenMs: 60_000 })],
    ],
    ['a callee that throws at once', []],
  ])('drains a long queue into %s without recursion', async (_, layers) => {
    const doors = bulkhead({ limit: 10, queue: 10_000 });
    const clock = new VirtualClock();
    let begun = 0;
    const guarded = compose([doors, deadline(1000), ...layers], { effect: 'read', clock }).wrap(
      () => {
        // The first ten take a moment, so that the rest has to queue.
        if (begun++ >= 10) throw new FaultError(fault('server'));
        return new Promise((_, reject) => {
          clock.setTimer(5, () => reject(new FaultError(fault('server'))));
        });
      },
    );
    const calls = Array.from({ length: 10_000 }, () => guarded.outcome());
    expect(doors.queued).toBe(9990);
    const outcomes = await clock.run(Promise.all(calls));
    expect(new Set(outcomes.map((outcome) => faultOf(outcome).kind))).toContain('server');
    expect(outcomes.some((outcome) => faultOf(outcome).kind === 'unexpected')).toBe(false);
    expect([doors.inFlight, doors.queued]).toEqual([0, 0]);
  });
});

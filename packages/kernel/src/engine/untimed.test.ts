import { describe, expect, it } from 'vitest';
import type { KernelEvent } from '../events.js';
import { health } from '../layers/health.js';
import { observe } from '../layers/observe.js';
import { attemptTimeout, deadline, idle } from '../layers/retry-and-timeouts.js';
import { VirtualClock } from '../testing/index.js';
import type { Layer } from './layer.js';
import { compose } from './pipeline.js';
import { faultOf } from './rig.fixture.js';
import { untimed } from './untimed.js';

describe('a wait of the callee’s own', () => {
  const paced = (clock: VirtualClock, waitMs: number, workMs: number) => {
    const events: KernelEvent[] = [];
    const after = (ms: number) => new Promise<void>((resolve) => clock.setTimer(ms, resolve));
    const layers = [attemptTimeout(100), deadline(1000), observe((event) => events.push(event))];
    const call = compose(layers, { effect: 'read', clock }).wrap(async (_: void, attempt) => {
      await untimed(attempt, () => after(waitMs));
      await after(workMs);
      return 'done';
    });
    return { events, call };
  };

  it('does not count against the attempt’s timeout, nor as latency', async () => {
    const clock = new VirtualClock();
    const { call, events } = paced(clock, 500, 90);
    expect(await clock.run(call())).toBe('done');
    expect(events).toContainEqual(expect.objectContaining({ type: 'attempt_end', elapsedMs: 90 }));
  });

  it('starts the attempt’s timeout when it ends', async () => {
    const clock = new VirtualClock();
    const outcome = await clock.run(paced(clock, 500, 200).call.outcome());
    expect([faultOf(outcome).clock, clock.now()]).toEqual(['attempt', 600]);
  });

  it('ends at the call’s deadline, which says nothing about the upstream', async () => {
    const clock = new VirtualClock();
    const { call, events } = paced(clock, 5000, 0);
    const outcome = await clock.run(call.outcome());
    expect([faultOf(outcome).clock, clock.now()]).toEqual(['deadline', 1000]);
    const end = events.find(({ type }) => type === 'attempt_end');
    expect(end).toMatchObject({ elapsedMs: 0, fault: { kind: 'cancelled' } });
  });

  it('is not idle, also if something arrives meanwhile', async () => {
    const clock = new VirtualClock();
    const after = (ms: number) => new Promise<void>((resolve) => clock.setTimer(ms, resolve));
    const second: Layer = {
      name: 'second',
      onAttempt({ call, index }) {
        if (index === 0) clock.setTimer(60, () => call.startAttempt(clock.now()));
      },
    };
    const call = compose([idle(100), second], { effect: 'read', clock }).wrap(
      async (_: void, attempt) => {
        const wait = untimed(attempt, () => after(500));
        attempt.progress();
        await wait;
        return attempt.index;
      },
    );
    expect(await clock.run(call())).toBe(0);
    expect(clock.now()).toBe(500);
  });

  it('is no latency either if the callee does not wait for its end', async () => {
    const clock = new VirtualClock();
    const measured = health();
    const work = compose([measured], { effect: 'read', clock }).wrap((_: void, attempt) => {
      void untimed(attempt, () => new Promise(() => undefined));
    });
    for (let i = 0; i < 3; i++) await work();
    expect(measured.medianFor(undefined)).toBe(0);
  });

  it('is run as it is outside of an attempt', async () => {
    const { signal } = new AbortController();
    expect(await untimed({ signal }, () => Promise.resolve('done'))).toBe('done');
  });
});

import { describe, expect, it } from 'vitest';
import { deadline } from '../layers/clocks.js';
import { retry } from '../layers/retry.js';
import { fault } from '../testing/index.js';
import { compose } from './pipeline.js';
import { faultOf, rig } from './rig.fixture.js';

const server = fault('server');
const patient = retry({ maxRetries: 2, initialBackoffMs: 100 });

describe('abort', () => {
  const reason = { why: 'the user left' };

  it('before the call: nothing is sent', async () => {
    const { begin, upstream } = rig([{ answer: 'a' }], [patient]);
    const fault = faultOf(await begin({ signal: AbortSignal.abort(reason) }));
    expect(fault).toEqual({ kind: 'cancelled', sent: 'no', cause: reason });
    expect(fault.cause).toBe(reason);
    expect(upstream.requests).toHaveLength(0);
  });

  it('during an attempt: settles at once, and the attempt’s signal gets the same reason', async () => {
    const { begin, upstream, clock } = rig([{ hang: true }], [patient]);
    const controller = new AbortController();
    const outcome = begin({ signal: controller.signal });
    await clock.advance(10);
    controller.abort(reason);
    expect(faultOf(await outcome)).toEqual({ kind: 'cancelled', sent: 'maybe', cause: reason });
    expect(upstream.requests[0]?.abortReason).toBe(reason);
  });

  it('during a backoff: settles at once, and no timer is left', async () => {
    const { begin, upstream, clock } = rig(
      [{ fault: server }],
      [retry({ initialBackoffMs: 60_000 })],
    );
    const controller = new AbortController();
    const outcome = begin({ signal: controller.signal });
    await clock.advance(10);
    expect(upstream.requests).toHaveLength(1);
    controller.abort(reason);
    expect(faultOf(await outcome).cause).toBe(reason);
    expect(clock.now()).toBe(10);
    expect(clock.pending).toBe(0);
  });

  it('throws the reason itself, whatever it is', async () => {
    for (const why of [reason, 'text', new Error('mine')]) {
      const pipeline = compose([patient], { effect: 'read' });
      const controller = new AbortController();
      const call = pipeline.wrap(() => new Promise(() => {}))(undefined, {
        signal: controller.signal,
      });
      controller.abort(why);
      await expect(call).rejects.toBe(why);
    }
  });

  it('of one signal ends all its calls, and only those', async () => {
    const { begin, clock } = rig([{ hang: true, deaf: true }], [deadline(1000)]);
    const controller = new AbortController();
    const mine = Array.from({ length: 50 }, () => begin({ signal: controller.signal }));
    const other = begin({ signal: new AbortController().signal });
    controller.abort(reason);
    for (const outcome of await Promise.all(mine)) expect(faultOf(outcome).cause).toBe(reason);
    expect(faultOf(await clock.run(other)).clock).toBe('deadline');
  });
});

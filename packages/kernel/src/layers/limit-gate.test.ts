import { describe, expect, it } from 'vitest';
import { faultOf, rig } from '../engine/rig.fixture.js';
import { fault } from '../testing/index.js';
import { deadline, retry } from './retry-and-timeouts.js';
import { limitGate } from './limit-gate.js';

describe('limitGate', () => {
  const reset = 1_700_000_000 + 30;
  const exhausted = [{ limit: 60, remaining: 0, reset }];

  it('passes a success that exhausts the limit and rejects the next request', async () => {
    const gate = limitGate();
    const surfacing = retry({ rateLimit: { onLimit: 'surface' } });
    const { call, clock, upstream } = rig([{ answer: 'last one' }], [gate, surfacing]);
    expect(await call()).toEqual({ ok: true, value: 'last one' });
    gate.report(exhausted, clock.wallNow());
    expect(faultOf(await call())).toEqual({
      kind: 'rate_limited',
      sent: 'no',
      retryAfterMs: 30_000,
      limits: exhausted,
    });
    expect(upstream.requests).toHaveLength(1);
  });

  it('waits for the reset if the policy allows it', async () => {
    const gate = limitGate();
    const { call, clock, upstream } = rig([{ answer: 'a' }], [gate, retry()]);
    gate.report(exhausted, clock.wallNow());
    expect((await call()).ok).toBe(true);
    expect(upstream.requests.map(({ at }) => at)).toEqual([30_000]);
  });

  it('closes on a fault’s limits and opens on a later report', async () => {
    const gate = limitGate();
    const limited = fault('rate_limited', { limits: exhausted });
    const { call, clock } = rig([{ fault: limited }, { answer: 'a' }], [gate]);
    expect(faultOf(await call()).sent).toBe('answered');
    expect(faultOf(await call()).sent).toBe('no');
    gate.report([{ limit: 60, remaining: 60, reset: reset + 3600 }], clock.wallNow());
    expect((await call()).ok).toBe(true);
  });

  it('separates windows by name', async () => {
    const gate = limitGate();
    const { call, clock } = rig([{ answer: 'a' }], [gate]);
    gate.report([{ ...exhausted[0]!, name: 'search' }], clock.wallNow());
    gate.report([{ limit: 5000, remaining: 4999, reset, name: 'core' }], clock.wallNow());
    expect(faultOf(await call()).kind).toBe('rate_limited');
  });

  it('does not extend the deadline', async () => {
    const gate = limitGate();
    const { call, clock } = rig([{ hang: true }], [gate, retry(), deadline(40_000)]);
    gate.report(exhausted, clock.wallNow());
    expect(faultOf(await call()).clock).toBe('deadline');
    expect(clock.now()).toBe(40_000);
  });

  it('applies to the route that reported the limit only', async () => {
    const gate = limitGate();
    const limited = fault('rate_limited', { limits: exhausted });
    const { call, upstream } = rig([{ fault: limited }, { answer: 'a' }], [gate]);
    await call({ route: 'search' });
    expect(faultOf(await call({ route: 'search' })).sent).toBe('no');
    expect((await call({ route: 'core' })).ok).toBe(true);
    expect((await call()).ok).toBe(true);
    expect(upstream.requests).toHaveLength(3);
  });

  it('opens at the reset', async () => {
    const gate = limitGate();
    const { call, clock } = rig([{ answer: 'a' }], [gate]);
    gate.report(exhausted, clock.wallNow());
    await clock.advance(30_000);
    expect((await call()).ok).toBe(true);
  });
});

import { describe, expect, it } from 'vitest';
import { faultOf, rig, type Rig } from '../engine/rig.fixture.js';
import { fault, type Step } from '../testing/index.js';
import { health } from './health.js';
import { attemptTimeout, deadline, retry } from './retry-and-timeouts.js';
import { hedge } from './hedge.js';

const usual: Step<string> = { answer: 'usual', afterMs: 100 };
const options = { quantile: 0.9, minSamples: 4, capacity: 5, perSuccess: 0 };

/** Four answers of 100 ms first, so that a hedge is due after 100 ms. */
async function warm(
  steps: Step<string>[],
  more: Parameters<typeof rig>[1] = [],
  tokens = 5,
): Promise<Rig> {
  const layers = [
    health(),
    hedge({ ...options, capacity: tokens }),
    retry({ maxRetries: 2, initialBackoffMs: 1000 }),
    ...more,
  ];
  const r = rig([usual, usual, usual, usual, ...steps], layers);
  for (let i = 0; i < 4; i++) await r.call();
  return r;
}

describe('a hedge', () => {
  it('sends a second request when the first is slow, and returns the first result', async () => {
    const { call, clock, upstream, types } = await warm([
      { hang: true },
      { answer: 'second', afterMs: 30 },
    ]);
    const start = clock.now();
    expect(await call()).toEqual({ ok: true, value: 'second' });
    expect(clock.now() - start).toBe(130);
    expect(types()).toContain('hedge_attempt');
    expect(upstream.requests.at(-2)?.abortedAt).toBe(clock.now());
  });

  it('returns the first request’s result and aborts the second', async () => {
    const { call, clock, upstream } = await warm([
      { answer: 'first', afterMs: 120 },
      { hang: true },
    ]);
    const start = clock.now();
    expect(await call()).toEqual({ ok: true, value: 'first' });
    expect(clock.now() - start).toBe(120);
    expect(upstream.requests.at(-1)?.abortedAt).toBe(clock.now());
  });

  it('is not sent while the first request is fast', async () => {
    const { call, upstream, clock } = await warm([{ answer: 'quick', afterMs: 90 }]);
    await call();
    expect(upstream.requests).toHaveLength(5);
    expect(clock.pending).toBeLessThanOrEqual(1);
  });

  it('is sent immediately after a fault of the first request', async () => {
    const { call, clock } = await warm([
      { fault: fault('server'), afterMs: 20 },
      { answer: 'b', afterMs: 30 },
    ]);
    const start = clock.now();
    expect(await call()).toEqual({ ok: true, value: 'b' });
    expect(clock.now() - start).toBe(50);
  });

  it('backs off while the upstream keeps failing', async () => {
    const down: Step<string> = { fault: fault('server') };
    const { call, clock } = await warm([
      ...Array.from({ length: 10 }, () => down),
      { answer: 'b' },
    ]);
    for (let i = 0; i < 3; i++) await call();
    const start = clock.now();
    expect(await call()).toEqual({ ok: true, value: 'b' });
    expect(clock.now() - start).toBe(1000);
  });

  it('waits if the upstream asked for a delay', async () => {
    const limited = fault('rate_limited', { retryAfterMs: 5000 });
    const { call, clock } = await warm([{ fault: limited }, { answer: 'b' }]);
    const start = clock.now();
    await call();
    expect(clock.now() - start).toBe(5000);
  });

  it('waits for the other request when one fails', async () => {
    const { call, clock } = await warm([
      { answer: 'first', afterMs: 400 },
      { fault: fault('network'), afterMs: 10 },
    ]);
    const start = clock.now();
    expect(await call()).toEqual({ ok: true, value: 'first' });
    expect(clock.now() - start).toBe(400);
  });

  it('ends with the first permanent result, also a rejection', async () => {
    const { call, clock } = await warm([
      { hang: true },
      { fault: fault('rejected', { status: 404 }), afterMs: 10 },
    ]);
    const start = clock.now();
    expect(faultOf(await call()).status).toBe(404);
    expect(clock.now() - start).toBe(110);
  });

  it('never makes more requests than 1 + maxRetries', async () => {
    const { call, upstream } = await warm([{ hang: true }], [attemptTimeout(1000)]);
    expect(faultOf(await call()).clock).toBe('attempt');
    expect(upstream.requests).toHaveLength(4 + 3);
  });

  it('does not send a fourth request when two failed and the retry is the slow one', async () => {
    const failing = { fault: fault('network'), afterMs: 10 };
    const steps = [
      usual,
      usual,
      usual,
      usual,
      { ...failing, afterMs: 120 },
      failing,
      { hang: true } as const,
    ];
    const layers = [
      health(),
      hedge(options),
      retry({ maxRetries: 2, initialBackoffMs: 5 }),
      deadline(900),
    ];
    const { call, upstream } = rig(steps, layers);
    for (let i = 0; i < 4; i++) await call();
    expect(faultOf(await call()).clock).toBe('deadline');
    expect(upstream.requests).toHaveLength(4 + 3);
  });

  it('is not sent after the deadline', async () => {
    const { call, clock, upstream } = await warm([{ hang: true }], [deadline(150)]);
    await call();
    await clock.advance(10_000);
    expect(upstream.requests).toHaveLength(4 + 2);
    expect(clock.pending).toBe(0);
  });

  it('aborts both requests when the caller aborts', async () => {
    const { begin, clock, upstream } = await warm([{ hang: true }]);
    const controller = new AbortController();
    const outcome = begin({ signal: controller.signal });
    await clock.advance(150);
    controller.abort('enough');
    expect(faultOf(await outcome).cause).toBe('enough');
    expect(upstream.requests.slice(-2).map(({ abortReason }) => abortReason)).toEqual([
      'enough',
      'enough',
    ]);
  });

  it('has its own budget, refilled by successes', async () => {
    const { call, upstream } = await warm(
      [{ hang: true }, { answer: 'b' }, { answer: 'slow', afterMs: 500 }],
      [],
      1,
    );
    await call();
    expect(upstream.requests).toHaveLength(6);
    await call();
    expect(upstream.requests).toHaveLength(7);
  });

  it('records the latency of a slow loser', async () => {
    const { call, clock, upstream } = await warm([
      { answer: 'slow', afterMs: 150 },
      { hang: true },
      { answer: 'b', afterMs: 60 },
      { answer: 'slow', afterMs: 160 },
    ]);
    await call();
    await call();
    const requests = upstream.requests.length;
    await call();
    // With the loser's time in the picture, 160 ms is no longer out of the ordinary.
    expect(upstream.requests.length - requests).toBeLessThanOrEqual(2);
    expect(clock.pending).toBeLessThanOrEqual(1);
  });

  it('is not sent before there are enough samples', async () => {
    const { call, upstream } = rig(
      [{ answer: 'slow', afterMs: 5000 }],
      [health(), hedge(options), retry()],
    );
    await call();
    expect(upstream.requests).toHaveLength(1);
  });

  it('backs off after a rate limit without a hint', async () => {
    const { call, clock } = await warm([{ fault: fault('rate_limited') }, { answer: 'b' }]);
    const start = clock.now();
    await call();
    expect(clock.now() - start).toBe(1000);
  });

  it('gets no tokens for faults', async () => {
    const layers = [
      health(),
      hedge({ ...options, capacity: 1, perSuccess: 1 }),
      retry({ maxRetries: 2, initialBackoffMs: 1000 }),
      attemptTimeout(300),
    ];
    const failing: Step<string> = { fault: fault('rejected'), afterMs: 10 };
    const steps = [
      usual,
      usual,
      usual,
      usual,
      { hang: true } as const,
      failing,
      failing,
      failing,
      { answer: 'slow', afterMs: 250 },
    ];
    const { call, upstream } = rig(steps, layers);
    for (let i = 0; i < 7; i++) await call();
    const before = upstream.requests.length;
    await call();
    expect(upstream.requests.length - before).toBe(1);
  });
});

import { describe, expect, it } from 'vitest';
import { faultOf, rig } from '../engine/rig.fixture.js';
import { fault, seededRandom, VirtualClock, type Step } from '../testing/index.js';
import { compose } from '../engine/pipeline.js';
import { FaultError } from '../fault.js';
import { breaker, type BreakerOptions } from './breaker.js';
import { attemptTimeout, deadline, retry } from './retry-and-timeouts.js';

const down: Step<string> = { fault: fault('server') };
const up: Step<string> = { answer: 'ok' };
const times = (n: number, step: Step<string>): Step<string>[] => Array<Step<string>>(n).fill(step);

const eager: Partial<BreakerOptions> = {
  minimumAttempts: 5,
  openAfterMs: 0,
  openMs: 1000,
  maxOpenMs: 4000,
  probes: 3,
};

describe('a breaker', () => {
  it('opens at the failure share and then rejects without sending', async () => {
    const circuit = breaker(eager);
    const { call, upstream, types } = rig(times(99, down), [circuit]);
    for (let i = 0; i < 5; i++) expect(faultOf(await call()).kind).toBe('server');
    expect(circuit.state).toBe('open');
    expect(faultOf(await call())).toEqual({ kind: 'circuit_open', sent: 'no', retryAfterMs: 1000 });
    expect(upstream.requests).toHaveLength(5);
    expect(types().filter((type) => type === 'circuit_open')).toHaveLength(1);
  });

  it.each([
    [
      'a final fault, such as an answer above the byte budget',
      fault('bad_response', { final: true }),
    ],
    ['501, which says that the request makes no sense', fault('server', { status: 501 })],
    ['505', fault('server', { status: 505 })],
  ])('is not opened by %s', async (_, permanent) => {
    const circuit = breaker(eager);
    const { call } = rig([{ fault: permanent }], [circuit]);
    for (let i = 0; i < 20; i++) expect(faultOf(await call()).kind).toBe(permanent.kind);
    expect(circuit.state).toBe('closed');
  });

  it('does not open for a burst shorter than openAfterMs', async () => {
    const circuit = breaker({ ...eager, openAfterMs: 1000 });
    const { call, clock } = rig([...times(30, down), ...times(30, up), down], [circuit]);
    for (let i = 0; i < 30; i++) await call();
    await clock.advance(900);
    expect(circuit.state).toBe('closed');
    for (let i = 0; i < 30; i++) expect((await call()).ok).toBe(true);
    await clock.advance(5000);
    await call();
    expect(circuit.state).toBe('closed');
  });

  it('opens immediately for timeouts', async () => {
    const circuit = breaker({ ...eager, openAfterMs: 1000 });
    const { clock, begin } = rig([{ hang: true }], [circuit, attemptTimeout(500)]);
    await clock.run(Promise.all(Array.from({ length: 5 }, () => begin())));
    expect(circuit.state).toBe('open');
  });

  it('opens once the failures have persisted for openAfterMs', async () => {
    const circuit = breaker({ ...eager, openAfterMs: 1000 });
    const { call, clock } = rig(times(99, down), [circuit]);
    for (let i = 0; i < 10; i++) {
      await call();
      await clock.advance(100);
    }
    expect(circuit.state).toBe('closed');
    for (let i = 0; i < 5; i++) {
      await call();
      await clock.advance(100);
    }
    expect(circuit.state).toBe('open');
  });

  it('reports the time until the next probe', async () => {
    const { call, clock } = rig(times(99, down), [breaker(eager)]);
    for (let i = 0; i < 5; i++) await call();
    await clock.advance(400);
    expect(faultOf(await call()).retryAfterMs).toBe(600);
  });

  it('admits probes after openMs and closes when one succeeds', async () => {
    const circuit = breaker(eager);
    const { call, clock, types } = rig([...times(5, down), up], [circuit]);
    for (let i = 0; i < 5; i++) await call();
    await clock.advance(1000);
    expect(await call()).toEqual({ ok: true, value: 'ok' });
    expect(circuit.state).toBe('closed');
    expect(types().filter((type) => type.startsWith('circuit'))).toEqual([
      'circuit_open',
      'circuit_half_open',
      'circuit_close',
    ]);
  });

  it('reopens for longer when the probes fail, up to maxOpenMs', async () => {
    const circuit = breaker(eager);
    const { call, clock } = rig(times(99, down), [circuit]);
    for (let i = 0; i < 5; i++) await call();
    for (const openMs of [1000, 2000, 4000, 4000]) {
      await clock.advance(openMs - 1);
      expect(faultOf(await call()).kind).toBe('circuit_open');
      await clock.advance(1);
      for (let probe = 0; probe < 3; probe++) expect(faultOf(await call()).kind).toBe('server');
      expect(circuit.state).toBe('open');
    }
  });

  it('admits no more probes than configured', async () => {
    const steps = [...times(5, down), { answer: 'slow', afterMs: 500 }];
    const { call, begin, clock, upstream } = rig(steps, [breaker(eager)]);
    for (let i = 0; i < 5; i++) await call();
    await clock.advance(1000);
    const outcomes = Promise.all(Array.from({ length: 10 }, () => begin()));
    await clock.advance(500);
    const kinds = (await outcomes).map((outcome) => (outcome.ok ? 'ok' : outcome.fault.kind));
    expect(kinds.filter((kind) => kind === 'ok')).toHaveLength(3);
    expect(kinds.filter((kind) => kind === 'circuit_open')).toHaveLength(7);
    expect(upstream.requests).toHaveLength(8);
  });

  it('replaces a cancelled probe by the next call', async () => {
    const steps = [...times(5, down), { hang: true } as const, up];
    const { call, begin, clock } = rig(steps, [breaker({ ...eager, probes: 1 })]);
    for (let i = 0; i < 5; i++) await call();
    await clock.advance(1000);
    const controller = new AbortController();
    const cancelled = begin({ signal: controller.signal });
    expect(faultOf(await call()).kind).toBe('circuit_open');
    controller.abort();
    await cancelled;
    expect((await call()).ok).toBe(true);
  });

  it('does not count rate limits, rejections or cancelled calls as failures', async () => {
    const circuit = breaker(eager);
    const steps = (['rate_limited', 'rejected', 'auth', 'unexpected'] as const).map((kind) => ({
      fault: fault(kind),
    }));
    const { call } = rig([...steps, ...steps, ...steps, ...steps], [circuit]);
    for (let i = 0; i < 16; i++) await call();
    expect(circuit.state).toBe('closed');
  });

  it('ignores attempts before its window', async () => {
    const circuit = breaker({ ...eager, windowMs: 1000 });
    const { call, clock } = rig(times(99, down), [circuit]);
    for (let i = 0; i < 4; i++) await call();
    await clock.advance(2001);
    for (let i = 0; i < 4; i++) await call();
    expect(circuit.state).toBe('closed');
    await call();
    expect(circuit.state).toBe('open');
  });

  it('returns the fault that caused the retry if it opens between two attempts', async () => {
    const { call, upstream } = rig(times(99, down), [
      breaker(eager),
      retry({ maxRetries: 9, initialBackoffMs: 1 }),
    ]);
    expect(faultOf(await call()).kind).toBe('server');
    expect(upstream.requests).toHaveLength(5);
  });

  it('opens when all attempts hang', async () => {
    const { begin, clock, types } = rig([{ hang: true }], [breaker(), attemptTimeout(6000)]);
    // Ten calls a second: sixty are always in flight, and each second ten of them time out.
    for (let n = 0; n < 100; n++) {
      void begin();
      await clock.advance(100);
    }
    expect(types()).toContain('circuit_open');
  });

  it('stays closed at 20 % faults that are ten times faster than successes', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const clock = new VirtualClock();
      const random = seededRandom(seed);
      const circuit = breaker();
      const guarded = compose(
        [circuit, retry({ maxRetries: 2, initialBackoffMs: 20, jitter: 'full' })],
        {
          effect: 'read',
          clock,
          random,
        },
      ).wrap(
        () =>
          new Promise<string>((resolve, reject) => {
            if (random() < 0.2) clock.setTimer(10, () => reject(new FaultError(fault('server'))));
            else clock.setTimer(100, () => resolve('ok'));
          }),
      );
      // 64 callers, each starting its next call when the last is answered.
      const callers = Array.from({ length: 64 }, async () => {
        for (let n = 0; n < 10; n++) await guarded.outcome(undefined);
      });
      await clock.run(Promise.all(callers));
      expect(circuit.state).toBe('closed');
    }
  });

  it('starts with the initial openMs again after it has closed', async () => {
    const steps = [...times(5, down), ...times(3, down), up, ...times(99, down)];
    const { call, clock } = rig(steps, [breaker(eager)]);
    for (let i = 0; i < 5; i++) await call();
    await clock.advance(1000);
    for (let i = 0; i < 3; i++) await call();
    await clock.advance(2000);
    expect((await call()).ok).toBe(true);
    for (let i = 0; i < 5; i++) await call();
    expect(faultOf(await call()).retryAfterMs).toBe(1000);
  });

  it('ignores a probe of an earlier opening', async () => {
    const circuit = breaker({ ...eager, probes: 1 });
    const steps = [...times(5, down), { answer: 'late', afterMs: 2500 }, ...times(99, down)];
    const { call, begin, clock } = rig(steps, [circuit]);
    for (let i = 0; i < 5; i++) await call();
    await clock.advance(1000);
    const late = begin();
    await clock.advance(2000);
    expect(faultOf(await call()).kind).toBe('server');
    expect(circuit.state).toBe('open');
    expect((await clock.run(late)).ok).toBe(true);
    expect(circuit.state).toBe('open');
  });

  it('admits new probes when a probe never completes', async () => {
    const steps = [...times(5, down), { hang: true, deaf: true } as const, up];
    const { call, begin, clock } = rig(steps, [breaker({ ...eager, probes: 1 })]);
    for (let i = 0; i < 5; i++) await call();
    await clock.advance(1000);
    void begin();
    expect(faultOf(await call()).retryAfterMs).toBe(2000);
    await clock.advance(2000);
    expect((await call()).ok).toBe(true);
  });

  it('accepts a probe that completes late', async () => {
    const circuit = breaker({ ...eager, probes: 1 });
    const steps = [...times(5, down), { answer: 'slow', afterMs: 5000 }, { hang: true } as const];
    const { call, begin, clock } = rig(steps, [circuit]);
    for (let i = 0; i < 5; i++) await call();
    await clock.advance(1000);
    const slow = begin();
    await clock.advance(2500);
    void begin();
    await clock.run(slow);
    expect(circuit.state).toBe('closed');
  });

  it('does not count a caller’s short deadline as a failure', async () => {
    const circuit = breaker(eager);
    const { call } = rig([{ answer: 'slow', afterMs: 500 }], [circuit, deadline(1000)]);
    for (let i = 0; i < 20; i++) {
      expect(faultOf(await call({ timeoutMs: 50 })).clock).toBe('deadline');
    }
    expect(circuit.state).toBe('closed');
  });

  it('counts the policy’s deadline as a failure', async () => {
    const circuit = breaker(eager);
    const { call } = rig([{ hang: true }], [circuit, deadline(100)]);
    for (let i = 0; i < 5; i++) await call();
    expect(circuit.state).toBe('open');
  });
});

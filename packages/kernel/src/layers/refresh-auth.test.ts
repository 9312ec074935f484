import { describe, expect, it } from 'vitest';
import { faultOf, rig } from '../engine/rig.fixture.js';
import { FaultError } from '../fault.js';
import { fault, type Step } from '../testing/index.js';
import { deadline, retry } from './retry-and-timeouts.js';
import { refreshAuth } from './refresh-auth.js';

const down: Step<string> = { fault: fault('server') };
const quick = retry({ maxRetries: 2, initialBackoffMs: 10 });

describe('refreshAuth', () => {
  const denied: Step<string> = { fault: fault('auth') };

  it('refreshes once and retries once, also once calls', async () => {
    let refreshed = 0;
    const { call, upstream } = rig(
      [denied, { answer: 'in' }],
      [quick, refreshAuth(() => void refreshed++)],
      { effect: 'once' },
    );
    expect(await call()).toEqual({ ok: true, value: 'in' });
    expect(refreshed).toBe(1);
    expect(upstream.requests).toHaveLength(2);
  });

  it('does not refresh twice', async () => {
    let refreshed = 0;
    const { call, upstream } = rig([denied], [quick, refreshAuth(() => void refreshed++)]);
    expect(faultOf(await call()).kind).toBe('auth');
    expect([refreshed, upstream.requests.length]).toEqual([1, 2]);
  });

  it.each([
    ['rejects', () => Promise.reject(new Error('revoked'))],
    [
      'throws',
      () => {
        throw new Error('revoked');
      },
    ],
    ['answers false', () => false],
  ])('returns the 401 when the refresh %s', async (_, refresh) => {
    const { call, upstream } = rig([denied], [quick, refreshAuth(refresh)]);
    expect(faultOf(await call())).toMatchObject({ kind: 'auth', status: 401 });
    expect(upstream.requests).toHaveLength(1);
  });

  it('returns the reason when the refresh fails for another reason than the credential', async () => {
    const outage = () => Promise.reject(new FaultError(fault('server', { status: 503 })));
    const { call, upstream } = rig([denied], [quick, refreshAuth(outage)]);
    expect(faultOf(await call())).toMatchObject({ kind: 'server', status: 503, sent: 'no' });
    expect(upstream.requests).toHaveLength(1);
  });

  it('ends at the deadline and aborts the refresh', async () => {
    let signal: AbortSignal | undefined;
    const never = (given: AbortSignal): Promise<void> => {
      signal = given;
      return new Promise(() => {});
    };
    const { call, clock } = rig([denied], [quick, deadline(500), refreshAuth(never)]);
    expect(faultOf(await call()).clock).toBe('deadline');
    expect(clock.now()).toBe(500);
    expect(signal?.aborted).toBe(true);
  });

  it('counts as one of the retries', async () => {
    const { call, upstream } = rig([denied, down], [quick, refreshAuth(() => true)]);
    await call();
    expect(upstream.requests).toHaveLength(3);
  });

  it('is shared by concurrent calls', async () => {
    let refreshes = 0;
    let done = (): void => {};
    const slow = refreshAuth(() => {
      refreshes++;
      return new Promise<void>((resolve) => (done = resolve));
    });
    const steps = [...Array.from({ length: 50 }, () => denied), { answer: 'in' }];
    const { begin, clock } = rig(steps, [quick, slow]);
    clock.setTimer(100, () => done());
    const outcomes = await clock.run(Promise.all(Array.from({ length: 50 }, () => begin())));
    expect(outcomes.every(({ ok }) => ok)).toBe(true);
    expect(refreshes).toBe(1);
  });

  it('continues for the others when one call leaves', async () => {
    let done = (): void => {};
    let signal: AbortSignal | undefined;
    const slow = (given: AbortSignal): Promise<void> => {
      signal = given;
      return new Promise((resolve) => (done = resolve));
    };
    const { begin, clock } = rig([denied, denied, { answer: 'in' }], [quick, refreshAuth(slow)]);
    const caller = new AbortController();
    const leaving = begin({ signal: caller.signal });
    const staying = begin();
    await clock.advance(10);
    caller.abort('bye');
    expect(faultOf(await leaving).cause).toBe('bye');
    expect(signal?.aborted).toBe(false);
    done();
    expect((await clock.run(staying)).ok).toBe(true);
  });

  it('is repeated for an attempt that used the new credential', async () => {
    let refreshes = 0;
    const layers = [quick, refreshAuth(() => void refreshes++)];
    // The first call fails for another reason, then waits; the second gets a credential meanwhile.
    const steps = [
      { fault: fault('server'), afterMs: 5 },
      denied,
      { answer: 'second' },
      denied,
      { answer: 'first' },
    ];
    const { begin, clock, upstream } = rig(steps, layers);
    const first = begin();
    await clock.advance(1);
    const second = begin();
    expect(await clock.run(second)).toEqual({ ok: true, value: 'second' });
    expect(refreshes).toBe(1);
    expect(await clock.run(first)).toEqual({ ok: true, value: 'first' });
    expect(refreshes).toBe(2);
    expect(upstream.requests).toHaveLength(5);
  });
});

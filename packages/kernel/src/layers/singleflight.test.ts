import { describe, expect, it } from 'vitest';
import { compose } from '../engine/pipeline.js';
import { faultOf } from '../engine/rig.fixture.js';
import { fault, ScriptedUpstream, VirtualClock, type Step } from '../testing/index.js';
import { cache } from './cache.js';
import { deadline } from './retry-and-timeouts.js';
import { singleflight } from './singleflight.js';

const keyOf = (input: string): string | undefined => (input === 'unique' ? undefined : input);

function flights(steps: Step<string>[]) {
  const clock = new VirtualClock();
  const upstream = new ScriptedUpstream<string, string>(clock, steps);
  const layers = [singleflight(keyOf), deadline(1000)];
  const { outcome } = compose(layers, { effect: 'read', clock }).wrap(upstream.handle);
  return { clock, upstream, outcome };
}

describe('singleflight', () => {
  it('coalesces concurrent equal calls', async () => {
    const { clock, upstream, outcome } = flights([{ answer: 'a', afterMs: 100 }]);
    const all = Promise.all([outcome('x'), outcome('x'), outcome('y'), outcome('x')]);
    expect((await clock.run(all)).every(({ ok }) => ok)).toBe(true);
    expect(upstream.requests.map(({ input }) => input)).toEqual(['x', 'y']);
  });

  it('does not cache', async () => {
    const { clock, upstream, outcome } = flights([{ answer: 'a' }]);
    await clock.run(outcome('x'));
    await clock.run(outcome('x'));
    expect(upstream.requests).toHaveLength(2);
  });

  it('does not coalesce calls without a key', async () => {
    const { clock, upstream, outcome } = flights([{ answer: 'a' }]);
    await clock.run(Promise.all([outcome('unique'), outcome('unique')]));
    expect(upstream.requests).toHaveLength(2);
  });

  it('shares a failure with waiting callers only', async () => {
    const { clock, outcome } = flights([{ fault: fault('server'), afterMs: 10 }, { answer: 'b' }]);
    const [one, two] = await clock.run(Promise.all([outcome('x'), outcome('x')]));
    expect([faultOf(one).kind, faultOf(two).kind]).toEqual(['server', 'server']);
    expect((await clock.run(outcome('x'))).ok).toBe(true);
  });

  it('keeps the call for the others when one caller leaves', async () => {
    const { clock, upstream, outcome } = flights([{ answer: 'a', afterMs: 100 }]);
    const controller = new AbortController();
    const leaving = outcome('x', { signal: controller.signal });
    const staying = outcome('x');
    await clock.advance(50);
    controller.abort('bye');
    expect(faultOf(await leaving).cause).toBe('bye');
    expect((await clock.run(staying)).ok).toBe(true);
    expect(upstream.requests[0]?.abortedAt).toBeUndefined();
  });

  it('aborts the work when the last caller leaves, and starts again for the next', async () => {
    const { clock, upstream, outcome } = flights([{ hang: true }, { answer: 'b' }]);
    const controller = new AbortController();
    const calls = [1, 2].map(() => outcome('x', { signal: controller.signal }));
    await clock.advance(50);
    controller.abort('bye');
    await Promise.all(calls);
    expect(upstream.requests[0]?.abortedAt).toBe(50);
    expect((await clock.run(outcome('x'))).ok).toBe(true);
  });

  it('applies each caller’s own deadline', async () => {
    const { clock, outcome } = flights([{ answer: 'a', afterMs: 100 }]);
    const patient = outcome('x');
    const hasty = await clock.run(outcome('x', { timeoutMs: 30 }));
    expect(faultOf(hasty)).toMatchObject({ kind: 'timeout', clock: 'deadline' });
    expect(clock.now()).toBe(30);
    expect((await clock.run(patient)).ok).toBe(true);
  });
});

describe('singleflight with callers that leave', () => {
  it('does not start for an aborted caller', async () => {
    const { upstream, outcome } = flights([{ answer: 'a' }]);
    expect(faultOf(await outcome('x', { signal: AbortSignal.abort('gone') })).cause).toBe('gone');
    expect(faultOf(await outcome('x', { timeoutMs: 0 })).clock).toBe('deadline');
    expect(upstream.requests).toHaveLength(0);
  });

  it('does not count a caller with invalid options', async () => {
    const { clock, upstream, outcome } = flights([{ hang: true }]);
    const caller = new AbortController();
    const waiting = outcome('x', { signal: caller.signal });
    expect(faultOf(await outcome('x', { timeoutMs: Number.NaN })).kind).toBe('unexpected');
    await clock.advance(10);
    caller.abort('bye');
    await waiting;
    expect(upstream.requests[0]?.abortedAt).toBe(10);
  });

  it('keeps a newer flight when an older one ends', async () => {
    const { clock, upstream, outcome } = flights([
      { answer: 'old', afterMs: 100 },
      { answer: 'new', afterMs: 100 },
    ]);
    const caller = new AbortController();
    const first = outcome('x', { signal: caller.signal });
    caller.abort('bye');
    await first;
    const second = outcome('x');
    await clock.advance(50);
    const third = outcome('x');
    await clock.run(Promise.all([second, third]));
    expect(upstream.requests).toHaveLength(2);
  });

  it('returns a fault when keyOf throws', async () => {
    const broken = (): string => {
      throw new Error('no key');
    };
    const pipeline = compose([singleflight(broken)], { effect: 'read' });
    expect(faultOf(await pipeline.wrap(() => 1).outcome('x')).kind).toBe('unexpected');
  });
});

describe('cache', () => {
  function cached(steps: Step<string>[], maxEntries = 2) {
    const clock = new VirtualClock();
    const upstream = new ScriptedUpstream<string, string>(clock, steps);
    const store = cache({ keyOf, ttlMs: 1000, maxEntries });
    const { outcome } = compose([store], { effect: 'read', clock }).wrap(upstream.handle);
    const ask = (key: string): Promise<unknown> => clock.run(outcome(key));
    return { clock, upstream, store, ask, outcome };
  }

  it('returns cached values until the TTL expires', async () => {
    const { clock, upstream, ask } = cached([{ answer: 'a' }, { answer: 'b' }]);
    expect(await ask('x')).toEqual({ ok: true, value: 'a' });
    await clock.advance(999);
    expect(await ask('x')).toEqual({ ok: true, value: 'a' });
    await clock.advance(1);
    expect(await ask('x')).toEqual({ ok: true, value: 'b' });
    expect(upstream.requests).toHaveLength(2);
  });

  it('does not cache failures', async () => {
    const { store, ask } = cached([{ fault: fault('server') }, { answer: 'b' }]);
    expect(await ask('x')).toMatchObject({ ok: false });
    expect(store.size).toBe(0);
    expect(await ask('x')).toEqual({ ok: true, value: 'b' });
  });

  it('does not return expired values on a failure', async () => {
    const { clock, ask } = cached([{ answer: 'a' }, { fault: fault('server') }, { answer: 'c' }]);
    await ask('x');
    await clock.advance(1000);
    expect(await ask('x')).toMatchObject({ ok: false });
    expect(await ask('x')).toEqual({ ok: true, value: 'c' });
  });

  it('evicts the least recently used entry', async () => {
    const { store, ask, upstream } = cached([{ answer: 'a' }]);
    for (const key of ['x', 'y', 'x', 'z', 'x']) await ask(key);
    expect(store.size).toBe(2);
    expect(upstream.requests.map(({ input }) => input)).toEqual(['x', 'y', 'z']);
    await ask('y');
    expect(upstream.requests.at(-1)?.input).toBe('y');
  });

  it('caches falsy values, deletes on request, and skips calls without a key', async () => {
    const clock = new VirtualClock();
    const store = cache({ keyOf, ttlMs: 1000, maxEntries: 5 });
    let calls = 0;
    const { outcome } = compose([store], { effect: 'read', clock }).wrap((input: string) => {
      calls += input.length > 0 ? 1 : 0;
      return undefined;
    });
    await outcome('x');
    await outcome('x');
    expect(calls).toBe(1);
    store.delete('x');
    await outcome('x');
    expect(calls).toBe(2);
    store.clear();
    await outcome('x');
    await outcome('unique');
    await outcome('unique');
    expect(calls).toBe(5);
  });

  it('does not answer an aborted caller', async () => {
    const { ask, outcome } = cached([{ answer: 'a' }]);
    await ask('x');
    expect(faultOf(await outcome('x', { signal: AbortSignal.abort('gone') })).cause).toBe('gone');
  });

  it('does not cache results requested before an invalidation', async () => {
    const { clock, store, outcome } = cached([{ answer: 'old', afterMs: 50 }, { answer: 'new' }]);
    const asked = outcome('x');
    await clock.advance(10);
    store.clear();
    await clock.run(asked);
    expect(store.size).toBe(0);
  });

  it('does not cache an old result that a later caller has joined', async () => {
    const clock = new VirtualClock();
    const steps = [{ answer: 'old', afterMs: 50 }, { answer: 'new' }];
    const upstream = new ScriptedUpstream<string, string>(clock, steps);
    const store = cache({ keyOf, ttlMs: 1000, maxEntries: 5 });
    const layers = [store, singleflight(keyOf)];
    const { outcome } = compose(layers, { effect: 'read', clock }).wrap(upstream.handle);
    const before = outcome('x');
    await clock.advance(10);
    store.delete('x');
    const after = outcome('x');
    await clock.run(Promise.all([before, after]));
    expect(upstream.requests).toHaveLength(1);
    expect(store.size).toBe(0);
    expect(await clock.run(outcome('x'))).toEqual({ ok: true, value: 'new' });
    expect(store.size).toBe(1);
  });
});

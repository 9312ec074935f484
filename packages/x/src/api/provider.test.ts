import { FaultError, presets, upstream, type Fault } from '@toolkeel/kernel';
import { fault, seededRandom, VirtualClock } from '@toolkeel/kernel/testing';
import { describe, expect, it } from 'vitest';
import type { Post } from '../model.js';
import {
  type ItemResult,
  type ReadContext,
  retrying,
  type RetryingOptions,
  type SocialReadProvider,
} from './provider.js';

const post: ItemResult<Post> = { item: { id: '1', text: 'a' }, partialErrors: [], limits: [] };
const FAST = 40;

/** A scripted provider: fails as configured, then answers. */
function scripted(clock: VirtualClock, script: readonly (Fault | undefined)[]) {
  const calls: { readonly name: string; readonly at: number }[] = [];
  const method = (name: string) => async (_query: unknown, context: ReadContext) => {
    const next = script[calls.length];
    calls.push({ name, at: clock.now() });
    await new Promise<void>((resolve) => {
      clock.setTimer(FAST, resolve);
    });
    if (next?.limits) context.reportLimits?.(next.limits);
    if (next) throw new FaultError(next);
    return post;
  };
  const names = ['getPost', 'getMe', 'searchPosts'];
  const provider = Object.fromEntries(names.map((name) => [name, method(name)]));
  return { provider: provider as unknown as SocialReadProvider, calls };
}

function rig(script: readonly (Fault | undefined)[], options: Partial<RetryingOptions> = {}) {
  const clock = new VirtualClock();
  const { provider, calls } = scripted(clock, script);
  const policy = presets.social;
  const guarded = retrying(provider, {
    policy,
    upstream: upstream('test', policy),
    clock,
    random: seededRandom(1),
    ...options,
  });
  let retries = 0;
  const context = (): ReadContext => ({
    signal: new AbortController().signal,
    deadline: Infinity,
    correlationId: 'c',
    noteRetry: () => retries++,
  });
  const get = (name: 'getPost' | 'getMe' = 'getPost') =>
    clock.run(
      (name === 'getMe'
        ? guarded.getMe(undefined, context())
        : guarded.getPost({ id: '1' }, context())
      ).then(
        () => 'answered' as const,
        (cause: unknown) => (cause instanceof FaultError ? cause.fault : cause),
      ),
    );
  return { clock, calls, get, retries: () => retries };
}

describe('retrying any provider', () => {
  it.each(['network', 'connect', 'timeout', 'server'] as const)(
    'retries a %s fault twice',
    async (kind) => {
      const { get, calls, retries } = rig([fault(kind), fault(kind), undefined]);
      expect(await get()).toBe('answered');
      expect(calls).toHaveLength(3);
      expect(retries()).toBe(2);
      const [first, second, third] = calls.map(({ at }) => at) as [number, number, number];
      expect(second - first - FAST).toBeLessThanOrEqual(500);
      expect(third - second - FAST).toBeLessThanOrEqual(1000);
    },
  );

  it('gives up after two retries and keeps the fault', async () => {
    const { get, calls } = rig(Array.from({ length: 5 }, () => fault('server', { status: 503 })));
    expect(await get()).toMatchObject({ kind: 'server', status: 503 });
    expect(calls).toHaveLength(3);
  });

  it.each(['rejected', 'auth', 'bad_response', 'unexpected'] as const)(
    'does not retry a %s fault',
    async (kind) => {
      const { get, calls } = rig([fault(kind)]);
      expect(await get()).toMatchObject({ kind });
      expect(calls).toHaveLength(1);
    },
  );

  it('surfaces a rate limit at once, with the time to wait', async () => {
    const { get, calls, clock } = rig([fault('rate_limited', { retryAfterMs: 61_000 })]);
    expect(await get()).toMatchObject({ kind: 'rate_limited', retryAfterMs: 61_000 });
    expect(calls).toHaveLength(1);
    expect(clock.now()).toBeLessThan(100);
  });

  it('does not send a request of a rate-limited method', async () => {
    const clock = new VirtualClock();
    const reset = clock.wallNow() / 1000 + 60;
    const spent = { limit: 1, remaining: 0, reset };
    const { get, calls } = rig([fault('rate_limited', { limits: [spent] })], { clock });
    expect(await get()).toMatchObject({ kind: 'rate_limited', sent: 'answered' });
    expect(await get()).toMatchObject({ kind: 'rate_limited', sent: 'no' });
    expect(calls).toHaveLength(1);
    expect(await get('getMe')).toBe('answered');
  });

  it('renews the credential once, then retries once', async () => {
    const renewed: string[] = [];
    const renew = async (method: string) => void renewed.push(method);
    const good = rig([fault('auth'), undefined], { renew });
    expect(await good.get()).toBe('answered');
    const bad = rig([fault('auth'), fault('auth'), fault('auth')], { renew });
    expect(await bad.get()).toMatchObject({ kind: 'auth' });
    expect(bad.calls).toHaveLength(2);
    expect(renewed).toEqual(['getPost', 'getPost']);
  });

  it('reports why the credential could not be renewed', async () => {
    const { get } = rig([fault('auth')], {
      renew: () => Promise.reject(new FaultError(fault('network'))),
    });
    expect(await get()).toMatchObject({ kind: 'network' });
  });

  it('wraps a class with private fields', async () => {
    class Remembering {
      readonly #text = 'kept';
      async getPost(): Promise<ItemResult<Post>> {
        return { ...post, item: { id: '1', text: this.#text } };
      }
    }
    const provider = new Remembering() as unknown as SocialReadProvider;
    const guarded = retrying(provider, { policy: presets.social });
    const context = {
      signal: new AbortController().signal,
      deadline: Infinity,
      correlationId: 'c',
    };
    expect((await guarded.getPost({ id: '1' }, context)).item.text).toBe('kept');
  });

  it('ends at the call timeout, also during a backoff', async () => {
    const { get, clock } = rig(Array.from({ length: 9 }, () => fault('timeout')));
    await get();
    expect(clock.now()).toBeLessThanOrEqual(15_000);
  });
});

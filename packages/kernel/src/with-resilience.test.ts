import { describe, expect, it } from 'vitest';
import { faultOf } from './engine/rig.fixture.js';
import {
  FaultError,
  withResilience,
  presets,
  upstream,
  type Fault,
  type KernelEvent,
} from './index.js';
import {
  fault,
  injectFaults,
  ScriptedUpstream,
  seededRandom,
  VirtualClock,
  type Step,
} from './testing/index.js';

const down: Step<string> = { fault: fault('server') };

function scripted(steps: Step<string>[]) {
  const clock = new VirtualClock({ epoch: 1_700_000_000_000 });
  return { clock, script: new ScriptedUpstream<string, string>(clock, steps) };
}

describe('withResilience', () => {
  it('applies a whole policy to a function', async () => {
    const { clock, script } = scripted([down, { hang: true }, { answer: 'c', afterMs: 20 }]);
    const getItem = withResilience(script.handle, presets.stac, {
      effect: 'read',
      clock,
      random: () => 0.5,
    });
    expect(await clock.run(getItem('x'))).toBe('c');
    expect(script.requests).toHaveLength(3);
    expect(script.requests[1]?.abortedAt).toBe(script.requests[1]!.at + 6000);
  });

  it.each([
    ['cold', 0],
    ['warm', 5000],
  ])('20 concurrent calls outlast 300 ms of instant failures, %s', async (_, begin) => {
    const clock = new VirtualClock();
    const work = (): string => {
      if (clock.now() >= begin && clock.now() < begin + 300) throw new FaultError(fault('server'));
      return 'ok';
    };
    const random = seededRandom(1);
    const search = withResilience(work, presets.stac, { effect: 'read', clock, random });
    while (clock.now() < begin) {
      await search();
      await clock.advance(100);
    }
    const calls = Array.from({ length: 20 }, () => search.outcome());
    const outcomes = await clock.run(Promise.all(calls));
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(20);
  });

  it('ends at the deadline of the policy', async () => {
    const { clock, script } = scripted([{ hang: true, deaf: true }]);
    const post = withResilience(script.handle, presets.social, { effect: 'once', clock });
    expect(faultOf(await clock.run(post.outcome('x')))).toMatchObject({ clock: 'attempt' });
    expect(clock.now()).toBe(10_000);
  });

  it('rejects an invalid policy and a missing effect', () => {
    expect(() => withResilience(async () => 1, { maxRetries: -1 }, { effect: 'read' })).toThrow(
      /^maxRetries/,
    );
    expect(() => withResilience(async () => 1, presets.stac, {} as never)).toThrow(
      /^effect must be/,
    );
    expect(() => withResilience(async () => 1, presets.stac, undefined as never)).toThrow(
      /^effect must be/,
    );
    expect(() => withResilience(7 as never, presets.stac, { effect: 'read' })).toThrow(
      /^work must be a function/,
    );
    expect(() => withResilience(undefined as never, presets.stac, { effect: 'read' })).toThrow(
      /^work must/,
    );
    const upstream = 'earth-search' as never;
    expect(() => withResilience(async () => 1, presets.stac, { effect: 'read', upstream })).toThrow(
      /^upstream must be made by/,
    );
  });

  it('classifies the errors of HTTP clients by default', async () => {
    const { clock, script } = scripted([
      { throws: Object.assign(new Error(), { code: 'ECONNRESET' }) },
      { throws: Object.assign(new Error(), { status: 429, headers: { 'retry-after': '3' } }) },
      { answer: 'ok' },
    ]);
    const call = withResilience(script.handle, presets.stac, {
      effect: 'read',
      clock,
      random: () => 0,
    });
    expect(await clock.run(call('x'))).toBe('ok');
    expect(script.requests.map(({ at }) => at)).toEqual([0, 0, 3000]);
  });

  it('names its events after the function or the name option', async () => {
    const events: KernelEvent[] = [];
    const listener = (event: KernelEvent): void => void events.push(event);
    await withResilience(async function getRoot() {}, presets.stac, { effect: 'read', listener })(
      undefined,
    );
    await withResilience(async () => {}, presets.stac, {
      effect: 'read',
      listener,
      name: 'get_item',
    })(undefined);
    expect(events.map(({ name }) => name)).toEqual(['getRoot', 'getRoot', 'get_item', 'get_item']);
  });

  it('refreshes a rejected credential', async () => {
    const { clock, script } = scripted([{ fault: fault('auth') }, { answer: 'in' }]);
    const refreshAuth = (): boolean => true;
    const call = withResilience(script.handle, presets.github, {
      effect: 'once',
      clock,
      refreshAuth,
    });
    expect(await clock.run(call('x'))).toBe('in');
  });

  it('waits less for a fast upstream', async () => {
    const fast: Step<string> = { answer: 'a', afterMs: 10 };
    const { clock, script } = scripted([...Array.from({ length: 8 }, () => fast), down, fast]);
    const call = withResilience(script.handle, presets.stac, {
      effect: 'read',
      clock,
      random: () => 1,
    });
    for (let i = 0; i < 8; i++) await clock.run(call('x'));
    await clock.run(call('x'));
    const [failed, retried] = script.requests.slice(-2);
    expect(retried!.at - failed!.at).toBe(10 * presets.stac.medianScale!);
  });
});

describe('a shared upstream', () => {
  it('is named in the events of all its functions', async () => {
    const events: KernelEvent[] = [];
    const listener = (event: KernelEvent) => events.push(event);
    const shared = upstream('items.example', presets.stac);
    const options = { effect: 'read', listener, name: 'search' } as const;
    await withResilience(() => Promise.resolve(1), presets.stac, {
      ...options,
      upstream: shared,
    })();
    await withResilience(() => Promise.resolve(1), presets.stac, options)();
    expect(events.map((event) => [event.type, event.upstream])).toEqual([
      ['attempt_end', 'items.example'],
      ['call_end', 'items.example'],
      ['attempt_end', 'search'],
      ['call_end', 'search'],
    ]);
  });

  it('opens its circuit for all functions and emits events', async () => {
    const { clock, script } = scripted([down]);
    const host = upstream('earth-search', presets.stac);
    const events: KernelEvent[] = [];
    const listener = (event: KernelEvent): void => void events.push(event);
    const options = { effect: 'read', clock, upstream: host, listener } as const;
    const search = withResilience(script.handle, presets.stac, options);
    const getItem = withResilience(script.handle, presets.stac, options);
    for (let i = 0; i < 30; i++) await clock.run(search.outcome('x'));
    expect(host.circuit).toBe('open');
    const sent = script.requests.length;
    expect(faultOf(await clock.run(getItem.outcome('x'))).kind).toBe('circuit_open');
    expect(script.requests).toHaveLength(sent);
    expect(events.find(({ type }) => type === 'circuit_open')).toMatchObject({
      upstream: 'earth-search',
    });
  });

  it('has one retry budget for all functions', async () => {
    const { clock, script } = scripted([down]);
    const policy = { ...presets.stac, budget: { capacity: 3, perSuccess: 0, perSecond: 0 } };
    const host = upstream('h', policy);
    const options = { effect: 'read', clock, upstream: host } as const;
    await clock.run(withResilience(script.handle, policy, options).outcome('x'));
    expect(host.retryTokens).toBe(1);
    await clock.run(withResilience(script.handle, policy, options).outcome('x'));
    expect(host.retryTokens).toBe(0);
    expect(script.requests).toHaveLength(3 + 2);
  });

  it('closes its limit gate for all functions', async () => {
    const { clock } = scripted([]);
    const host = upstream('api.github.com', presets.github);
    const options = { effect: 'read', clock, upstream: host } as const;
    const limits = [{ limit: 60, remaining: 0, reset: 1_700_000_000 + 3600 }];
    const last = withResilience(
      (_: string, attempt) => attempt.reportLimits(limits),
      presets.github,
      options,
    );
    await clock.run(last('x'));
    const next = withResilience(() => 'never', presets.github, options);
    expect(faultOf(await clock.run(next.outcome('x')))).toMatchObject({
      kind: 'rate_limited',
      sent: 'no',
      retryAfterMs: 3_600_000,
    });
  });

  it('is hedged for reads only, and can be shared with mutations', async () => {
    const policy = {
      ...presets.stac,
      hedge: { quantile: 0.5, minSamples: 1, capacity: 5, perSuccess: 1 },
    };
    const host = upstream('h', policy);
    const { clock, script } = scripted([
      { answer: 'a', afterMs: 10 },
      { answer: 'b', afterMs: 500 },
    ]);
    const read = withResilience(script.handle, policy, { effect: 'read', clock, upstream: host });
    const post = withResilience(script.handle, policy, { effect: 'once', clock, upstream: host });
    await clock.run(read('x'));
    await clock.run(post('x'));
    expect(script.requests).toHaveLength(2);
  });

  it('exposes its state', () => {
    const host = upstream('h', presets.stac);
    expect([host.name, host.circuit, host.retryTokens]).toEqual(['h', 'closed', 60]);
    expect(upstream('usual').retryTokens).toBe(60);
    expect(upstream('bare', { budget: false }).retryTokens).toBeUndefined();
  });
});

describe('under injected faults', () => {
  it('with 20 % failing attempts at most 1 % of calls fail', async () => {
    const clock = new VirtualClock();
    const random = seededRandom(7);
    const call = withResilience(
      (n: number) => new Promise((resolve) => clock.setTimer(20, () => resolve(n))),
      presets.stac,
      { effect: 'read', clock, random, layers: [injectFaults({ rate: 0.2, random, clock })] },
    );
    let failed = 0;
    for (let n = 0; n < 2000; n++) if (!(await clock.run(call.outcome(n))).ok) failed++;
    // Theory: 0.2 ^ 3 = 0.8 %, so 16 of 2000; three standard deviations are 12.
    expect(failed).toBeLessThanOrEqual(28);
    expect(failed).toBeGreaterThanOrEqual(4);
  });
});

describe('an invalid classifier', () => {
  it.each<[string, unknown, object]>([
    ['of an unknown kind', { kind: 'weird', sent: 'no' }, { kind: 'unexpected' }],
    ['of an inherited kind', { kind: 'constructor', sent: 'no' }, { kind: 'unexpected' }],
    ['of no kind', {}, { kind: 'unexpected' }],
    ['nothing', undefined, { kind: 'unexpected' }],
    ['of no known sending', { kind: 'rejected', sent: 'perhaps' }, { kind: 'rejected' }],
  ])('still produces a typed fault: %s', async (_, given, expected) => {
    const cause = new Error('x');
    const call = withResilience(() => Promise.reject(cause), presets.stac, {
      effect: 'once',
      classify: () => given as Fault,
    });
    const outcome = await call.outcome(undefined);
    expect(outcome).toMatchObject({ ok: false, fault: { ...expected, sent: 'maybe' } });
  });
});

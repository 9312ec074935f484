import { describe, expect, it } from 'vitest';
import type { Fault } from '../fault.js';
import { breaker } from '../layers/breaker.js';
import { bulkhead } from '../layers/bulkhead.js';
import { attemptTimeout, deadline, retry } from '../layers/retry-and-timeouts.js';
import { fault, ScriptedUpstream, VirtualClock } from '../testing/index.js';
import type { Clock } from '../time/clock.js';
import { compose } from './pipeline.js';
import { faultOf, rig } from './rig.fixture.js';

const server = fault('server');
const patient = retry({ maxRetries: 2, initialBackoffMs: 100 });

describe('a layer that throws', () => {
  const broken = new Error('a bug in a layer');
  const bad = (hook: 'beforeAttempt' | 'afterAttempt' | 'onSettled' | 'onAttempt') => ({
    name: 'bad',
    [hook]: () => {
      throw broken;
    },
  });

  it.each(['beforeAttempt', 'onAttempt', 'afterAttempt', 'onSettled'] as const)(
    'in %s fails the call',
    async (hook) => {
      const { call } = rig([{ answer: 'a' }], [deadline(1000), bad(hook)]);
      expect(faultOf(await call())).toMatchObject({ kind: 'unexpected', cause: broken });
    },
  );

  it('on a retry fails the call, not the process', async () => {
    const second = {
      name: 'bad',
      beforeAttempt: ({ index }: { index: number }) => {
        if (index === 1) throw broken;
        return undefined;
      },
    };
    const { call } = rig([{ fault: server }], [patient, second]);
    expect(faultOf(await call())).toMatchObject({ kind: 'unexpected', cause: broken });
  });
});

describe('resources are released', () => {
  it.each([
    ['a success', { answer: 'a' }],
    ['a failure', { fault: fault('rejected') }],
  ])('by %s: the timer is cleared one tick later', async (_, step) => {
    const { call, clock } = rig([step], [deadline(15_000), attemptTimeout(6000), patient]);
    await call();
    await clock.advance(60);
    expect(clock.pending).toBe(0);
  });

  it('by a call that ends before others with the same signal, which still receive the abort', async () => {
    const { begin, clock } = rig([{ answer: 'quick' }, { hang: true, deaf: true }], [patient]);
    const caller = new AbortController();
    const quick = begin({ signal: caller.signal });
    const stuck = begin({ signal: caller.signal });
    expect((await clock.run(quick)).ok).toBe(true);
    caller.abort('now');
    expect(faultOf(await stuck).cause).toBe('now');
  });
});

describe('a layer that rejects attempts', () => {
  it('repeatedly ends the call after as many rejections as attempts are allowed', async () => {
    let asked = 0;
    const shut = {
      name: 'shut',
      beforeAttempt: () => {
        asked++;
        return fault('rate_limited', { sent: 'no', retryAfterMs: 10 });
      },
    };
    const { call, upstream } = rig([{ answer: 'a' }], [patient, shut]);
    expect(faultOf(await call()).kind).toBe('rate_limited');
    expect(asked).toBe(3);
    expect(upstream.requests).toHaveLength(0);
  });

  it('notifies only the layers that had accepted the attempt', async () => {
    const seen: string[] = [];
    const noting = (name: string, refusal?: Fault) => ({
      name,
      beforeAttempt: () => {
        seen.push(`${name} before`);
        return refusal;
      },
      afterAttempt: (_: unknown, ended: Fault | undefined) =>
        void seen.push(`${name} after ${ended?.kind}`),
    });
    const { call } = rig(
      [{ answer: 'a' }],
      [noting('a'), noting('b', fault('overloaded')), noting('c')],
    );
    await call();
    expect(seen).toEqual(['a before', 'b before', 'a after overloaded']);
  });
});

describe('a blocked event loop', () => {
  it('does not start an attempt after the deadline', async () => {
    const clock = new VirtualClock();
    const late: Clock = {
      now: () => clock.now(),
      wallNow: () => clock.wallNow(),
      setTimer: (ms, fire) => clock.setTimer(ms + 1000, fire),
      clearTimer: (timer) => clock.clearTimer(timer),
    };
    const { handle, requests } = new ScriptedUpstream<undefined, string>(clock, [
      { fault: server },
    ]);
    const guarded = compose([patient, deadline(500)], { effect: 'read', clock: late }).wrap(handle);
    expect(faultOf(await clock.run(guarded.outcome(undefined))).clock).toBe('deadline');
    expect(requests).toHaveLength(1);
  });
});

describe('a layer that throws at the deadline', () => {
  const rude = {
    name: 'rude',
    onSettled: () => {
      throw new Error('a bug in a layer');
    },
  };

  it('fails its own call and does not delay others', async () => {
    const clock = new VirtualClock();
    const { handle } = new ScriptedUpstream<undefined, string>(clock, [{ hang: true, deaf: true }]);
    const bad = compose([deadline(30), rude], { effect: 'read', clock }).wrap(handle);
    const good = compose([deadline(60)], { effect: 'read', clock }).wrap(handle);
    const outcomes = await clock.run(Promise.all([bad.outcome(), bad.outcome(), good.outcome()]));
    expect(outcomes.map((outcome) => faultOf(outcome).kind)).toEqual([
      'unexpected',
      'unexpected',
      'timeout',
    ]);
  });

  it('does not keep an abort from other calls', async () => {
    const caller = new AbortController();
    const never = (): Promise<string> => new Promise(() => {});
    const bad = compose([rude], { effect: 'read' }).wrap(never);
    const good = compose([], { effect: 'read' }).wrap(never);
    const both = [bad, good].map(({ outcome }) => outcome(undefined, { signal: caller.signal }));
    caller.abort('enough');
    const [first, second] = await Promise.all(both);
    expect(faultOf(first!).kind).toBe('unexpected');
    expect(faultOf(second!).cause).toBe('enough');
  });
});

describe('a call that ends by an internal error', () => {
  it('releases its bulkhead slot and counters', async () => {
    const doors = bulkhead({ limit: 1 });
    let mistakes = 1;
    const clumsy = {
      name: 'clumsy',
      afterAttempt: () => {
        if (mistakes-- > 0) throw new Error('once');
      },
    };
    const { call } = rig([{ answer: 'a' }], [doors, clumsy, breaker()]);
    expect(faultOf(await call()).kind).toBe('unexpected');
    expect((await call()).ok).toBe(true);
    expect(doors.inFlight).toBe(0);
  });

  it('releases its alarm', async () => {
    const broken = {
      name: 'broken',
      onAttempt: () => {
        throw new Error('no');
      },
    };
    const { call, clock } = rig([{ answer: 'a' }], [deadline(15_000), broken]);
    await call();
    await clock.advance(60);
    expect(clock.pending).toBe(0);
  });

  it('is unexpected if the classifier returns nothing', async () => {
    const doors = bulkhead({ limit: 1 });
    const { call } = rig([{ throws: 'odd' }], [doors], { classify: () => undefined as never });
    for (let i = 0; i < 3; i++) {
      expect(faultOf(await call())).toEqual({ kind: 'unexpected', sent: 'maybe', cause: 'odd' });
    }
  });

  it('throws a FaultError, not undefined, if the classifier returns cancelled', async () => {
    const classify = (): Fault => ({ kind: 'cancelled', sent: 'maybe' });
    const guarded = compose([], { effect: 'read', classify }).wrap(() =>
      Promise.reject(new Error()),
    );
    await expect(guarded()).rejects.toMatchObject({ name: 'FaultError' });
  });
});

describe('a timeout of a nested call', () => {
  it('is the callee’s, so the outer call may retry', async () => {
    const clock = new VirtualClock();
    const { handle, requests } = new ScriptedUpstream<undefined, string>(clock, [
      { hang: true },
      { answer: 'b' },
    ]);
    const inner = compose([deadline(50)], { effect: 'read', clock }).wrap(handle);
    const outer = compose([deadline(5000), patient], { effect: 'read', clock }).wrap(() => inner());
    expect(await clock.run(outer())).toBe('b');
    expect(requests).toHaveLength(2);
    const stuck = new ScriptedUpstream<undefined, string>(clock, [{ hang: true }]);
    const never = compose([deadline(50)], { effect: 'read', clock }).wrap(stuck.handle);
    const outerOfStuck = compose([deadline(5000), patient], { effect: 'read', clock }).wrap(() =>
      never(),
    );
    expect(faultOf(await clock.run(outerOfStuck.outcome()))).toMatchObject({
      kind: 'timeout',
      clock: 'callee',
    });
  });
});

describe('20,000 calls with deadlines of their own', () => {
  it('start in constant time each', async () => {
    const clock = new VirtualClock();
    const guarded = compose([deadline(60_000)], { effect: 'read', clock }).wrap(
      () => new Promise(() => {}),
    );
    const calls = Array.from({ length: 20_000 }, (_, n) =>
      guarded.outcome(undefined, { timeoutMs: 30_000 - n }),
    );
    const outcomes = await clock.run(Promise.all(calls));
    expect(outcomes.every((outcome) => !outcome.ok && outcome.fault.clock === 'deadline')).toBe(
      true,
    );
    expect(clock.now()).toBe(30_000);
  });
});

describe('abort', () => {
  const reason = { why: 'the user left' };

  it('before the call sends nothing', async () => {
    const { begin, upstream } = rig([{ answer: 'a' }], [patient]);
    const fault = faultOf(await begin({ signal: AbortSignal.abort(reason) }));
    expect(fault).toEqual({ kind: 'cancelled', sent: 'no', cause: reason });
    expect(fault.cause).toBe(reason);
    expect(upstream.requests).toHaveLength(0);
  });

  it('during an attempt settles immediately and aborts the attempt with the same reason', async () => {
    const { begin, upstream, clock } = rig([{ hang: true }], [patient]);
    const controller = new AbortController();
    const outcome = begin({ signal: controller.signal });
    await clock.advance(10);
    controller.abort(reason);
    expect(faultOf(await outcome)).toEqual({ kind: 'cancelled', sent: 'maybe', cause: reason });
    expect(upstream.requests[0]?.abortReason).toBe(reason);
  });

  it('during a backoff settles immediately and leaves no timer', async () => {
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

  it('throws the abort reason unchanged', async () => {
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

  it('of one signal ends exactly its calls', async () => {
    const { begin, clock } = rig([{ hang: true, deaf: true }], [deadline(1000)]);
    const controller = new AbortController();
    const mine = Array.from({ length: 50 }, () => begin({ signal: controller.signal }));
    const other = begin({ signal: new AbortController().signal });
    controller.abort(reason);
    for (const outcome of await Promise.all(mine)) expect(faultOf(outcome).cause).toBe(reason);
    expect(faultOf(await clock.run(other)).clock).toBe('deadline');
  });
});

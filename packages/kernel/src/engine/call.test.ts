import { describe, expect, it } from 'vitest';
import { attemptTimeout, deadline, idle, retry } from '../layers/retry-and-timeouts.js';
import { fault, ScriptedUpstream, VirtualClock } from '../testing/index.js';
import type { CallOptions } from './call.js';
import { compose } from './pipeline.js';
import { faultOf, rig } from './rig.fixture.js';

const server = fault('server');
const patient = retry({ maxRetries: 2, initialBackoffMs: 100 });

describe('attempts', () => {
  it('are one if the first succeeds', async () => {
    const { call, upstream } = rig([{ answer: 'a' }], [patient]);
    expect(await call()).toEqual({ ok: true, value: 'a' });
    expect(upstream.requests).toHaveLength(1);
  });

  it('are retried with the policy’s backoff until one succeeds', async () => {
    const { call, upstream } = rig(
      [{ fault: server }, { fault: server }, { answer: 'c' }],
      [patient],
    );
    expect(await call()).toEqual({ ok: true, value: 'c' });
    expect(upstream.requests.map(({ at, index }) => [at, index])).toEqual([
      [0, 0],
      [100, 1],
      [300, 2],
    ]);
  });

  it('are never more than 1 + maxRetries', async () => {
    const { call, upstream } = rig([{ fault: server }], [patient]);
    expect(await call()).toEqual({ ok: false, fault: server });
    expect(upstream.requests).toHaveLength(3);
  });

  it('are one without a retry layer', async () => {
    const { call, upstream } = rig([{ fault: server }], []);
    expect(faultOf(await call())).toEqual(server);
    expect(upstream.requests).toHaveLength(1);
  });

  it('end with the first permanent fault', async () => {
    const { call, upstream } = rig([{ fault: server }, { fault: fault('rejected') }], [patient]);
    expect(faultOf(await call()).kind).toBe('rejected');
    expect(upstream.requests).toHaveLength(2);
  });
});

describe('a callee that throws', () => {
  it.each([
    ['an unknown error', new TypeError('x is not a function')],
    ['a string', 'no'],
    ['undefined', undefined],
    ['null', null],
    [
      'an object whose properties throw',
      new Proxy(
        {},
        {
          get: () => {
            throw new Error('trap');
          },
        },
      ),
    ],
  ])(
    '%s: an unexpected fault with the thing itself as its cause, not retried',
    async (_, thrown) => {
      const { call, upstream } = rig([{ throws: thrown }], [patient]);
      const answer = faultOf(await call());
      expect(answer.kind).toBe('unexpected');
      expect(answer.cause).toBe(thrown);
      expect(upstream.requests).toHaveLength(1);
    },
  );

  it('synchronously', async () => {
    const boom = new Error('boom');
    const pipeline = compose([patient], { effect: 'read' });
    const outcome = await pipeline
      .wrap(() => {
        throw boom;
      })
      .outcome(undefined);
    expect(faultOf(outcome)).toEqual({ kind: 'unexpected', sent: 'maybe', cause: boom });
  });

  it('a value that the classifier throws on', async () => {
    const classify = (): never => {
      throw new Error('classifier');
    };
    const { call } = rig([{ throws: 'odd' }], [patient], { classify });
    expect(faultOf(await call())).toEqual({ kind: 'unexpected', sent: 'maybe', cause: 'odd' });
  });

  it('nothing, and returns a plain value', async () => {
    const pipeline = compose([patient], { effect: 'read' });
    expect(await pipeline.wrap((n: number) => n + 1)(1)).toBe(2);
  });
});

describe('the deadline', () => {
  it('settles the call although the callee never does and ignores its signal', async () => {
    const { call, clock } = rig([{ hang: true, deaf: true }], [deadline(1000), patient]);
    expect(faultOf(await call())).toEqual({ kind: 'timeout', sent: 'maybe', clock: 'deadline' });
    expect(clock.now()).toBe(1000);
  });

  it('aborts the attempt’s signal with the fault as reason', async () => {
    const { call, upstream } = rig([{ hang: true }], [deadline(1000)]);
    await call();
    expect(upstream.requests[0]).toMatchObject({
      abortedAt: 1000,
      abortReason: { name: 'FaultError', fault: { kind: 'timeout', clock: 'deadline' } },
    });
  });

  it('covers all attempts and backoffs', async () => {
    const slow = { fault: server, afterMs: 400 };
    const { call, clock, upstream } = rig([slow, { hang: true }], [deadline(1000), patient]);
    expect(faultOf(await call()).clock).toBe('deadline');
    expect(clock.now()).toBe(1000);
    expect(upstream.requests).toHaveLength(2);
  });

  it('rejects a delay that would pass it and returns the hint', async () => {
    const limited = fault('rate_limited', { retryAfterMs: 1000 });
    const { call, clock } = rig([{ fault: limited, afterMs: 50 }], [deadline(1000), patient]);
    expect(faultOf(await call())).toEqual(limited);
    expect(clock.now()).toBe(50);
  });

  it('of the caller applies if it is earlier', async () => {
    const hang = { hang: true } as const;
    const early = rig([hang], [deadline(1000)]);
    await early.call({ timeoutMs: 300 });
    expect(early.clock.now()).toBe(300);
    const late = rig([hang], [deadline(1000)]);
    await late.call({ timeoutMs: 3000 });
    expect(late.clock.now()).toBe(1000);
    const absolute = rig([hang], [deadline(1000)]);
    await absolute.clock.advance(500);
    await absolute.call({ deadline: 600 });
    expect(absolute.clock.now()).toBe(600);
  });

  it('of an attempt can be passed to nested calls, with undefined options', async () => {
    const clock = new VirtualClock();
    const options = { clock, effect: 'read' } as const;
    const inner = compose([], options);
    const nothing = {
      signal: undefined,
      timeoutMs: undefined,
      correlationId: undefined,
      route: undefined,
    };
    const outer = compose([deadline(50)], options).wrap(async (_: undefined, { deadline: until }) =>
      inner.run(() => new Promise(() => {}), { ...nothing, deadline: until - 10 }),
    );
    const started = clock.now();
    const ended = faultOf(await clock.run(outer.outcome(undefined, nothing)));
    expect(ended).toMatchObject({ kind: 'timeout' });
    expect(clock.now() - started).toBe(40);
  });

  it('in the past sends nothing', async () => {
    const { call, upstream } = rig([{ answer: 'a' }], [patient]);
    expect(faultOf(await call({ timeoutMs: 0 }))).toEqual({
      kind: 'timeout',
      sent: 'no',
      clock: 'deadline',
    });
    expect(upstream.requests).toHaveLength(0);
  });

  it('that is not a number is rejected before anything is sent', async () => {
    const { begin, upstream } = rig([{ answer: 'a' }], [patient]);
    const refusal = async (options: object): Promise<unknown> => {
      const { kind, sent, cause } = faultOf(await begin(options));
      expect([kind, sent]).toEqual(['unexpected', 'no']);
      return (cause as Error).message;
    };
    const notATime = /^timeoutMs or deadline must be a time on the pipeline's clock, got /;
    expect(await refusal({ timeoutMs: Number.NaN })).toMatch(notATime);
    expect(await refusal({ deadline: Number.NaN })).toMatch(notATime);
    expect(await refusal({ deadline: Date.now() + 50 })).toMatch(notATime);
    expect(await refusal({ signal: {} })).toMatch(/addEventListener is not a function/);
    expect(upstream.requests).toHaveLength(0);
  });

  it('of null counts as absent', async () => {
    const { call, clock } = rig([{ answer: 'a', afterMs: 100 }], [patient]);
    const none = { timeoutMs: null, deadline: null } as unknown as CallOptions;
    expect(await call(none)).toEqual({ ok: true, value: 'a' });
    expect(clock.now()).toBe(100);
  });

  it('applies to concurrent calls of different lengths', async () => {
    const clock = new VirtualClock();
    const { handle } = new ScriptedUpstream<number, string>(clock, [{ hang: true, deaf: true }]);
    const guarded = compose([deadline(700)], { effect: 'read', clock }).wrap(handle);
    const ends: number[] = [];
    const lengths = [500, 100, 900, 300, 300, 20];
    for (const [n, timeoutMs] of lengths.entries()) {
      void guarded.outcome(n, { timeoutMs }).then(() => ends.push(clock.now()));
    }
    void guarded.outcome(99).then(() => ends.push(clock.now()));
    await clock.drain();
    expect(ends).toEqual([20, 100, 300, 300, 500, 700, 700]);
  });
});

describe('the attempt timeout', () => {
  it('ends one attempt and allows a retry', async () => {
    const { call, clock, upstream } = rig(
      [
        { hang: true, deaf: true },
        { answer: 'b', afterMs: 10 },
      ],
      [attemptTimeout(500), patient],
    );
    expect(await call()).toEqual({ ok: true, value: 'b' });
    expect(clock.now()).toBe(610);
    expect(upstream.requests).toHaveLength(2);
  });

  it('never resends a once call, which may have acted', async () => {
    const { call, upstream } = rig([{ hang: true }], [attemptTimeout(500), patient], {
      effect: 'once',
    });
    expect(faultOf(await call())).toEqual({ kind: 'timeout', sent: 'maybe', clock: 'attempt' });
    expect(upstream.requests).toHaveLength(1);
  });

  it('ignores a late result', async () => {
    const { call, upstream } = rig(
      [
        { answer: 'late', afterMs: 600 },
        { answer: 'b', afterMs: 300 },
      ],
      [attemptTimeout(500), patient],
    );
    expect(await call()).toEqual({ ok: true, value: 'b' });
    expect(upstream.requests[0]?.abortedAt).toBe(500);
  });
});

describe('the idle timeout', () => {
  const progressing = (everyMs: number, times: number) => {
    const clock = new VirtualClock();
    const work = (_: undefined, attempt: { progress(): void }): Promise<string> =>
      new Promise((resolve) => {
        let left = times;
        const beat = (): void => {
          attempt.progress();
          if (--left === 0) resolve('done');
          else clock.setTimer(everyMs, beat);
        };
        clock.setTimer(everyMs, beat);
      });
    return { clock, work };
  };

  it('restarts at each progress', async () => {
    const { clock, work } = progressing(80, 10);
    const guarded = compose([idle(100)], { effect: 'read', clock }).wrap(work);
    expect(await clock.run(guarded.outcome(undefined))).toEqual({ ok: true, value: 'done' });
    expect(clock.now()).toBe(800);
  });

  it('fires without progress, as its own clock', async () => {
    const { clock, work } = progressing(120, 10);
    const guarded = compose([idle(100)], { effect: 'read', clock }).wrap(work);
    expect(faultOf(await clock.run(guarded.outcome(undefined)))).toEqual({
      kind: 'timeout',
      sent: 'maybe',
      clock: 'idle',
    });
    expect(clock.now()).toBe(100);
  });

  it('counts from the last progress', async () => {
    const clock = new VirtualClock();
    const guarded = compose([idle(100)], { effect: 'read', clock }).wrap(
      (_: undefined, attempt) =>
        new Promise(() => {
          clock.setTimer(70, () => attempt.progress());
        }),
    );
    await clock.run(guarded.outcome(undefined));
    expect(clock.now()).toBe(170);
  });

  it('does not extend the deadline', async () => {
    const { clock, work } = progressing(80, 100);
    const guarded = compose([idle(100), deadline(500)], { effect: 'read', clock }).wrap(work);
    expect(faultOf(await clock.run(guarded.outcome(undefined))).clock).toBe('deadline');
    expect(clock.now()).toBe(500);
  });
});

describe('fault.sent', () => {
  const refused = { fault: fault('connect') };

  it('covers all attempts: a later “no” does not hide an earlier “maybe”', async () => {
    const { call } = rig([{ fault: fault('network') }, refused], [patient], {
      effect: 'idempotent',
    });
    expect(faultOf(await call())).toMatchObject({ kind: 'connect', sent: 'maybe' });
  });

  it('nor does a later rate limit or rejection', async () => {
    for (const last of ['rate_limited', 'rejected'] as const) {
      const steps = [{ fault: server }, { fault: fault(last, { final: true }) }];
      const { call } = rig(steps, [patient], { effect: 'idempotent' });
      expect(faultOf(await call())).toMatchObject({ kind: last, sent: 'maybe' });
    }
  });

  it('stays “no” if every attempt was rejected locally', async () => {
    const { call } = rig([{ fault: fault('rate_limited') }, refused], [patient], {
      effect: 'once',
      retryUnsent: true,
    });
    expect(faultOf(await call())).toMatchObject({ kind: 'connect', sent: 'no' });
  });

  it('stays “answered” for a single 503', async () => {
    const { call } = rig([{ fault: server }], []);
    expect(faultOf(await call()).sent).toBe('answered');
  });

  it('is “no” for a callee that was still connecting at the timeout', async () => {
    const clock = new VirtualClock();
    const guarded = compose([deadline(100)], { effect: 'once', clock }).wrap(
      (_: undefined, attempt) => {
        attempt.sent = 'no';
        return new Promise(() => {});
      },
    );
    expect(faultOf(await clock.run(guarded.outcome(undefined))).sent).toBe('no');
  });
});

describe('the attempt’s signal', () => {
  it('is already aborted when a callee reads it after the timeout', async () => {
    const clock = new VirtualClock();
    let late: AbortSignal | undefined;
    const guarded = compose([deadline(100)], { effect: 'read', clock }).wrap(
      (_: undefined, attempt) => {
        clock.setTimer(150, () => (late = attempt.signal));
        return new Promise(() => {});
      },
    );
    await clock.run(guarded.outcome(undefined));
    await clock.advance(100);
    expect(late?.aborted).toBe(true);
  });

  it('is not aborted by success', async () => {
    let signal: AbortSignal | undefined;
    const pipeline = compose([patient, deadline(1000)], { effect: 'read' });
    await pipeline.run((attempt) => void (signal = attempt.signal));
    expect(signal?.aborted).toBe(false);
  });

  it('is new for each attempt', async () => {
    const signals: AbortSignal[] = [];
    const clock = new VirtualClock();
    const guarded = compose([attemptTimeout(50), patient], { effect: 'read', clock }).wrap(
      (_: undefined, attempt) => {
        signals.push(attempt.signal);
        return signals.length === 2 ? 'b' : new Promise<string>(() => {});
      },
    );
    await clock.run(guarded.outcome(undefined));
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  });
});

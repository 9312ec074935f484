import type { Clock } from '@toolkeel/kernel';
import { VirtualClock } from '@toolkeel/kernel/testing';
import { beforeEach, describe, expect, expectTypeOf, it, vi } from 'vitest';
import { containing } from '../matchers.fixture.js';
import { toolError } from '../tool/result.js';
import { type Middleware, processClock, type RunClock, type RunOptions } from './options.js';
import { args, fine, hanging, never, slow, turn, watched } from './deadline.fixture.js';
import { acting, base, run, throwing, toolWith } from './run.fixture.js';

const idempotent = { ...acting, effect: 'idempotent' } as const;

let clock = new VirtualClock();
beforeEach(() => {
  clock = new VirtualClock({ startAt: 1000 });
});

describe('the deadline', () => {
  it.each(Object.entries(hanging))('ends a call in which %s never settles', async (_, given) => {
    const { tool, ...options } = given;
    const running = run(tool, args, { ...options, clock, deadline: 1500 });
    let settled = false;
    void running.then(() => (settled = true));
    await clock.advanceTo(1499);
    expect(settled).toBe(false);
    await clock.advanceTo(1500);
    expect(settled).toBe(true);
    const { error, meta } = await running;
    expect(error).toMatchObject({
      code: 'timeout',
      message: containing('The call reached its deadline'),
      details: { clock: 'deadline' },
    });
    expect(error).not.toHaveProperty('outcome');
    expect(meta.elapsed_ms).toBe(500);
    expect(clock.pending).toBe(0);
  });

  it.each<[string, object, Middleware | undefined, object]>([
    ['begun, idempotent', idempotent, undefined, { code: 'timeout', outcome: 'unknown' }],
    ['not begun, idempotent', idempotent, never, { code: 'timeout', outcome: 'not_executed' }],
    [
      'begun, once',
      acting,
      undefined,
      {
        code: 'outcome_unknown',
        outcome: 'unknown',
        details: { cause_code: 'timeout', clock: 'deadline' },
      },
    ],
    ['not begun, once', acting, never, { code: 'timeout', outcome: 'not_executed' }],
  ])('reports the outcome of a mutation: %s', async (_, more, middleware, expected) => {
    const options = { clock, deadline: 1500, ...(middleware && { middleware }) };
    const running = run(toolWith(never, more), args, options);
    expect((await clock.run(running)).error).toMatchObject(expected);
  });

  it.each([1000, 999, Number.NEGATIVE_INFINITY])(
    'in the past (%d at 1000) starts nothing',
    async (deadline) => {
      const handler = vi.fn(() => fine);
      const middleware = vi.fn<Middleware>((_, next) => next());
      const { error } = await run(toolWith(handler, acting), args, { clock, deadline, middleware });
      expect(error).toMatchObject({ code: 'timeout', outcome: 'not_executed' });
      expect(handler).not.toHaveBeenCalled();
      expect(middleware).not.toHaveBeenCalled();
    },
  );

  it('still reports invalid arguments', async () => {
    expect(
      (
        await run(
          toolWith(() => fine),
          {},
          { clock, deadline: 0 },
        )
      ).error?.code,
    ).toBe('validation_error');
  });

  it('does not start a handler after the call was answered', async () => {
    const handler = vi.fn(() => fine);
    let late: unknown;
    const middleware: Middleware = async (_, next) => {
      await new Promise<void>((resolve) => clock.setTimer(600, resolve));
      late = await next();
      return late as Awaited<ReturnType<Middleware>>;
    };
    const options = { clock, deadline: 1500, middleware };
    const { error } = await clock.run(run(toolWith(handler, acting), args, options));
    expect(error).toMatchObject({ code: 'timeout', outcome: 'not_executed' });
    await clock.drain();
    expect(late).toMatchObject({ ok: false, error: { code: 'timeout', outcome: 'not_executed' } });
    expect(handler).not.toHaveBeenCalled();
  });

  it('uses the result of a handler that stops in the same turn', async () => {
    const stopping = () =>
      new Promise((resolve) => {
        clock.setTimer(500, () =>
          resolve(
            toolError('timeout', 'x', { outcome: 'not_executed', details: { clock: 'mine' } }),
          ),
        );
      });
    const running = run(toolWith(stopping, acting), args, { clock, deadline: 1500 });
    expect((await clock.run(running)).error).toMatchObject({
      outcome: 'not_executed',
      details: { clock: 'mine' },
    });
  });

  it('ignores the late result of a handler and reports its late failure', async () => {
    const later = (act: () => unknown) => () =>
      new Promise((resolve, reject) => {
        clock.setTimer(700, () => {
          try {
            resolve(act());
          } catch (cause) {
            reject(cause);
          }
        });
      });
    const bug = new Error('late bug');
    const onUnexpected = vi.fn();
    const options: RunOptions = { clock, deadline: 1500, onUnexpected, correlationId: 'c-1' };
    const success = run(toolWith(later(() => fine)), args, options);
    const failure = run(toolWith(later(throwing(bug))), args, options);
    const rejection = run(
      toolWith(() => fine),
      args,
      {
        ...options,
        middleware: later(throwing(bug)) as Middleware,
      },
    );
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    await clock.drain();
    await turn();
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
    for (const { error } of await Promise.all([success, failure, rejection])) {
      expect(error?.code).toBe('timeout');
    }
    expect(onUnexpected.mock.calls).toEqual([
      [bug, 'c-1'],
      [bug, 'c-1'],
    ]);
  });

  it('is mapped by the tool’s faultToError', async () => {
    const deadline = 1500;
    const reads = toolWith(never, {
      faultToError: () => toolError('upstream_unavailable', 'Mine.'),
    });
    expect((await clock.run(run(reads, args, { clock, deadline }))).error?.message).toBe('Mine.');
    const onUnexpected = vi.fn();
    const fails = toolWith(never, { ...acting, faultToError: throwing(new Error('x')) });
    const running = run(fails, args, { clock, deadline: 2500, middleware: never, onUnexpected });
    expect((await clock.run(running)).error).toMatchObject({
      code: 'timeout',
      outcome: 'not_executed',
    });
    expect(onUnexpected).toHaveBeenCalledOnce();
  });

  it('may exceed the maximum delay of a timer', async () => {
    const delays: number[] = [];
    const counting: RunClock = {
      now: () => clock.now(),
      setTimer: (delayMs, fire) => {
        delays.push(delayMs);
        return clock.setTimer(delayMs, fire);
      },
      clearTimer: (timer) => clock.clearTimer(timer),
    };
    const month = 1000 + 30 * 24 * 3600 * 1000;
    const running = run(toolWith(never), args, { clock: counting, deadline: month });
    expect((await clock.run(running)).error?.code).toBe('timeout');
    expect(clock.now()).toBe(month);
    expect(Math.max(...delays)).toBeLessThan(2 ** 31);
  });

  it('leaves no timer when the call settles in time', async () => {
    const setTimer = vi.spyOn(clock, 'setTimer');
    for (const handler of [slow, () => slow().then(throwing(new Error('x')))]) {
      await run(toolWith(handler), args, { clock, deadline: 1500 });
      expect(clock.pending).toBe(0);
    }
    expect(setTimer).toHaveBeenCalledTimes(2);
  });

  it('sets no timer and no listener for a call that settles immediately', async () => {
    const setTimer = vi.spyOn(clock, 'setTimer');
    const { signal } = watched();
    const middleware: Middleware = async (_, next) => next();
    for (const handler of [() => fine, async () => fine, throwing(new Error('x'))]) {
      for (const more of [{}, { middleware }]) {
        await Promise.resolve();
        await run(toolWith(handler), args, { clock, signal, deadline: 1500, ...more });
      }
    }
    expect(setTimer).not.toHaveBeenCalled();
    expect(signal.addEventListener).not.toHaveBeenCalled();
  });

  it('applies although the clock fails to set or clear a timer', async () => {
    const onUnexpected = vi.fn();
    let timers = 0;
    const failing: RunClock = {
      ...processClock,
      now: () => clock.now(),
      setTimer: (delayMs, fire) => {
        timers += 1;
        if (timers > 1) throw new Error('no more timers');
        return clock.setTimer(delayMs, fire);
      },
    };
    const running = run(toolWith(never), args, { clock: failing, deadline: 1500 });
    expect((await clock.run(running)).error?.code).toBe('timeout');
    const stuck: RunClock = {
      ...processClock,
      clearTimer: (timer) => {
        processClock.clearTimer(timer);
        throw new Error('x');
      },
    };
    const options = { clock: stuck, deadline: performance.now() + 60_000, onUnexpected };
    expect((await run(toolWith(slow), args, options)).success).toBe(true);
    expect(onUnexpected).toHaveBeenCalledOnce();
  });

  it('ends the call if the clock cannot set a timer', async () => {
    const setTimer = throwing(new Error('no timers'));
    const options = { clock: { ...processClock, setTimer }, deadline: performance.now() + 60_000 };
    expect((await run(toolWith(never, acting), args, options)).error).toMatchObject({
      code: 'internal_error',
      outcome: 'unknown',
    });
  });

  it('needs no injected clock', async () => {
    const deadline = performance.now() + 5;
    expect((await run(toolWith(never), args, { deadline })).error?.code).toBe('timeout');
    expect(performance.now()).toBeGreaterThanOrEqual(deadline);
  });

  it("takes the kernel's clock", () => {
    expectTypeOf<Clock>().toExtend<RunClock>();
  });
});

it('a call without deadline and signal sets no timer', async () => {
  const setTimer = vi.spyOn(clock, 'setTimer');
  await run(
    toolWith(() => fine),
    args,
    { clock, deadline: Number.POSITIVE_INFINITY },
  );
  await run(
    toolWith(() => fine, { input: base.input }),
    args,
    { clock },
  );
  expect(setTimer).not.toHaveBeenCalled();
});

describe('a deadline on the wrong clock', () => {
  it('is rejected before the handler starts', async () => {
    const began = vi.fn(() => fine);
    const answer = await run(toolWith(began), args, { clock, deadline: Date.now() + 40 });
    expect(answer.error?.code).toBe('internal_error');
    expect(began).not.toHaveBeenCalled();
  });
});

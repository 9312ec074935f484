import { VirtualClock } from '@toolkeel/kernel/testing';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { toolError } from '../tool/result.js';
import { type Middleware, processClock } from './options.js';
import { args, fine, hanging, never, slow, turn, watched } from './deadline.fixture.js';
import { acting, run, throwing, toolWith } from './run.fixture.js';

let clock = new VirtualClock();
beforeEach(() => {
  clock = new VirtualClock({ startAt: 1000 });
});

describe('an abort', () => {
  it('before the call starts nothing', async () => {
    const handler = vi.fn(() => fine);
    const middleware = vi.fn<Middleware>((_, next) => next());
    const signal = AbortSignal.abort(new Error('secret reason'));
    const envelope = await run(toolWith(handler, acting), args, { signal, middleware });
    expect(envelope.error).toEqual({
      code: 'cancelled',
      message: 'The call was cancelled.',
      retryable: false,
      outcome: 'not_executed',
    });
    expect(handler).not.toHaveBeenCalled();
    expect(middleware).not.toHaveBeenCalled();
  });

  it.each(Object.entries(hanging))('ends a call in which %s never settles', async (_, given) => {
    const { tool, ...options } = given;
    const { controller, signal, listeners } = watched();
    const running = run(tool, args, { ...options, signal, clock, deadline: 5000 });
    await turn();
    expect(listeners.size).toBe(1);
    controller.abort();
    expect((await running).error?.code).toBe('cancelled');
    expect(listeners.size).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it.each<[string, Middleware | undefined, string]>([
    ['begun', undefined, 'unknown'],
    ['not begun', never, 'not_executed'],
  ])('reports the outcome of a mutation: %s', async (_, middleware, outcome) => {
    const controller = new AbortController();
    const options = { signal: controller.signal, ...(middleware && { middleware }) };
    const running = run(toolWith(never, acting), args, options);
    controller.abort();
    expect((await running).error).toMatchObject({ code: 'cancelled', outcome });
  });

  it('by the handler itself is not missed', async () => {
    const controller = new AbortController();
    const tool = toolWith(() => {
      controller.abort();
      return never();
    });
    expect((await run(tool, args, { signal: controller.signal })).error?.code).toBe('cancelled');
  });

  it('uses the result of a handler that stops in the same turn', async () => {
    const controller = new AbortController();
    const tool = toolWith(
      () =>
        new Promise((resolve) => {
          controller.signal.addEventListener('abort', () =>
            resolve(toolError('cancelled', 'Not sent.', { outcome: 'not_executed' })),
          );
        }),
      acting,
    );
    const running = run(tool, args, { signal: controller.signal });
    controller.abort();
    expect((await running).error).toMatchObject({ outcome: 'not_executed', message: 'Not sent.' });
  });

  it('does not reach a handler with another signal', async () => {
    const controller = new AbortController();
    const own = new AbortController().signal;
    let seen: AbortSignal | undefined;
    let recorded: unknown;
    const tool = {
      ...toolWith(() => fine, acting),
      handler: async (_: unknown, context: { signal: AbortSignal }) => {
        seen = context.signal;
        await new Promise<void>((resolve) => clock.setTimer(100, resolve));
        return fine;
      },
    };
    const middleware: Middleware = async (_, next) => {
      const settled = await next({ signal: own });
      recorded = settled;
      return settled;
    };
    const running = run(tool, args, { signal: controller.signal, middleware });
    await turn();
    controller.abort();
    expect((await running).error).toMatchObject({ code: 'cancelled', outcome: 'unknown' });
    await clock.drain();
    expect(seen).toBe(own);
    expect(seen?.aborted).toBe(false);
    expect(recorded).toMatchObject({ ok: true, data: fine });
  });

  it('adds no listener if the call cannot start', async () => {
    const { signal, listeners } = watched();
    const setTimer = throwing(new Error('x'));
    const broken = { ...processClock, now: () => 0, setTimer };
    await run(
      toolWith(() => fine),
      args,
      { signal, clock: broken, deadline: 5 },
    );
    expect(listeners.size).toBe(0);
    await run(
      toolWith(() => fine),
      args,
      { signal: {} as AbortSignal, clock, deadline: 1500 },
    );
    expect(clock.pending).toBe(0);
  });

  it('after the end changes nothing and leaves no listener', async () => {
    const { controller, signal, listeners } = watched();
    const envelope = await run(toolWith(slow), args, { signal });
    expect(signal.addEventListener).toHaveBeenCalledOnce();
    expect(listeners.size).toBe(0);
    controller.abort();
    expect(envelope.success).toBe(true);
  });

  it('and the deadline at the same time give one answer', async () => {
    const { controller, signal, listeners } = watched();
    const running = run(toolWith(never), args, { signal, clock, deadline: 1500 });
    await turn();
    clock.setTimer(500, () => controller.abort());
    expect((await clock.run(running)).error?.code).toBe('timeout');
    expect(listeners.size).toBe(0);
    expect(clock.pending).toBe(0);
  });
});

it('the host’s signal for the handler is created on first access', async () => {
  const make = vi.fn(() => new AbortController().signal);
  const lazy: Middleware = (_, next) =>
    next({
      get signal() {
        return make();
      },
    });
  await run(
    toolWith(() => fine),
    args,
    { middleware: lazy },
  );
  expect(make).not.toHaveBeenCalled();
  const reads = {
    ...toolWith(() => fine),
    handler: (_: unknown, { signal }: { signal: AbortSignal }) => ({
      id: String(signal.aborted),
      n: 1,
    }),
  };
  await run(reads, args, { middleware: lazy });
  expect(make).toHaveBeenCalledOnce();
});

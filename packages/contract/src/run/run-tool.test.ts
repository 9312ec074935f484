import { VirtualClock } from '@toolkeel/kernel/testing';
import { describe, expect, expectTypeOf, it, vi } from 'vitest';
import type { ToolContext } from '../tool/context.js';
import { defineTool } from '../tool/define.js';
import { answer, toolError } from '../tool/result.js';
import { runTool, startTool } from './run-tool.js';
import { acting, base, reading, run, throwing, toolWith } from './run.fixture.js';
import { args, fine, never, turn } from './deadline.fixture.js';
import type { RunOptions, Settled } from './options.js';

describe('a successful call', () => {
  it('returns data, time and correlation id', async () => {
    const clock = new VirtualClock({ startAt: 100 });
    const slow = toolWith(async () => {
      await clock.advance(34);
      return { id: 'a', n: 1 };
    });
    expect(await run(slow, { id: 'a' }, { clock, correlationId: 'c-1' })).toEqual({
      success: true,
      data: { id: 'a', n: 1 },
      meta: { tool_version: '1.0', elapsed_ms: 34, retry_count: 0, correlation_id: 'c-1' },
    });
  });

  it('has typed data', async () => {
    const { envelope } = await runTool(reading, { id: 'a' });
    expectTypeOf(envelope.data).toEqualTypeOf<unknown>();
    if (envelope.success) expectTypeOf(envelope.data).toEqualTypeOf<{ id: string; n: number }>();
    expect(envelope.data).toEqual({ id: 'a', n: 10 });
  });

  it('parses once and stringifies once', async () => {
    const stringify = vi.spyOn(JSON, 'stringify');
    const parseInput = vi.spyOn(reading.input, 'safeParse');
    await runTool(reading, { id: 'a' });
    expect(stringify).toHaveBeenCalledTimes(1);
    expect(parseInput).toHaveBeenCalledTimes(1);
    vi.restoreAllMocks();
  });

  it('passes defaults and known arguments to the handler', async () => {
    const extra = toolWith(() => ({ id: 'a', n: 1, secret: 'x' }));
    expect(await run(extra, { id: 'a' })).toMatchObject({ data: { id: 'a', n: 1 } });
    expect((await run(extra, { id: 'a' })).data).not.toHaveProperty('secret');
  });

  it('generates a correlation id', async () => {
    const [one, two] = [await run(reading, { id: 'a' }), await run(reading, { id: 'a' })];
    expect(one.meta.correlation_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(one.meta.correlation_id).not.toBe(two.meta.correlation_id);
  });

  it('includes the rate limit of the upstream', async () => {
    const rateLimit = { limit: 300, remaining: 12, reset: '2026-01-01T00:00:00.000Z' };
    const tool = toolWith(() => answer({ id: 'a', n: 1 }, { rateLimit }));
    expect(await run(tool, { id: 'a' })).toMatchObject({ meta: { rate_limit: rateLimit } });
  });

  it('includes the mode in workflow', async () => {
    const profile = { name: 'workflow', mode: 'autopilot', approvalMode: false } as const;
    expect((await run(reading, { id: 'a' }, { profile })).meta).toMatchObject({
      mode: 'autopilot',
      approval_mode: false,
    });
  });

  it('counts the retries of the handler or the host', async () => {
    const tool = defineTool({
      ...base,
      handler: ({ id }, { noteRetry }) => {
        noteRetry();
        noteRetry();
        return { id, n: 1 };
      },
    });
    expect((await run(tool, { id: 'a' })).meta.retry_count).toBe(2);
    expect((await run(tool, { id: 'a' }, { retryCount: () => 7 })).meta.retry_count).toBe(7);
  });

  it('passes the context to the handler', async () => {
    const { signal } = new AbortController();
    const clock = new VirtualClock();
    const options = { correlationId: 'c-1', deadline: 5, progress: vi.fn(), signal, clock };
    const tool = defineTool({
      ...base,
      handler: ({ id }, context) => {
        context.progress({ progress: 1 });
        expect(context.signal).toBe(signal);
        return { id, n: context.deadline + context.correlationId.length };
      },
    });
    expect((await run(tool, { id: 'a' }, options)).data).toEqual({ id: 'a', n: 8 });
    expect(options.progress).toHaveBeenCalledWith({ progress: 1 });
  });

  it('creates a signal for the handler if there is none', async () => {
    const seen: AbortSignal[] = [];
    const tool = defineTool({
      ...base,
      handler: ({ id }, context) => {
        seen.push(context.signal, context.signal);
        return { id, n: 1 };
      },
    });
    await run(tool, { id: 'a' });
    await run(tool, { id: 'a' });
    expect(new Set(seen).size).toBe(2);
  });
});

describe('a synchronous call', () => {
  const limits = { deadline: performance.now() + 60_000, signal: new AbortController().signal };

  it.each<[string, () => unknown]>([
    ['a value', () => fine],
    ['an error', () => toolError('not_found', 'x')],
    ['a failure', throwing(new Error('x'))],
  ])('returns no promise for %s', (_, handler) => {
    expect(startTool(toolWith(handler), args, limits)).toHaveProperty('envelope.success');
    expect(startTool(toolWith(handler), args)).toHaveProperty('envelope.success');
  });

  it('returns no promise for invalid arguments', () => {
    expect(startTool(reading, {}, limits)).toMatchObject({
      envelope: { error: { code: 'validation_error' } },
    });
  });

  it('awaits any thenable', async () => {
    const thenable = { then: (tell: (value: unknown) => void) => tell(fine) };
    for (const handler of [async () => fine, () => thenable]) {
      const started = startTool(toolWith(handler), args);
      expect(started).toBeInstanceOf(Promise);
      expect((await started).envelope.data).toEqual(fine);
    }
  });

  it('accepts data with a member named then', () => {
    const tool = toolWith(() => ({ ...fine, then: 'no function' }));
    expect(startTool(tool, args)).toMatchObject({ envelope: { data: fine } });
  });
});

it('extraContext reaches the handler without a middleware', async () => {
  const signal = new AbortController().signal;
  const seen = vi.fn();
  const tool = { ...reading, handler: (_: unknown, context: object) => (seen(context), fine) };
  await run(tool, args, {
    extraContext: { signal, deadline: 5 },
    deadline: performance.now() + 60_000,
  });
  expect(seen.mock.calls[0]?.[0]).toMatchObject({ signal, deadline: 5 });
});

describe('a pending call', () => {
  it('can be ended by its host with a failure', async () => {
    const tool = toolWith(never, acting);
    const onPending = vi.fn<NonNullable<RunOptions['onPending']>>((end) => {
      const { input } = toolError('cancelled', 'Closing time.', { outcome: 'unknown' });
      setImmediate(() => end({ ok: false, error: input }));
    });
    const { error } = await run(tool, args, { onPending, deadline: performance.now() + 60_000 });
    expect(error).toMatchObject({ code: 'cancelled', message: 'Closing time.' });
    expect(onPending).toHaveBeenCalledOnce();
  });

  it('does not call onPending if it settles immediately', async () => {
    const onPending = vi.fn();
    await run(reading, args, { onPending, deadline: performance.now() + 60_000 });
    await turn();
    expect(onPending).not.toHaveBeenCalled();
  });

  it('reports a late result to its host', async () => {
    const clock = new VirtualClock();
    const onLate = vi.fn<(settled: Settled) => void>();
    const slow = () => new Promise((resolve) => clock.setTimer(200, () => resolve(fine)));
    const running = run(toolWith(slow), args, { clock, deadline: 100, onLate });
    expect((await clock.run(running)).error?.code).toBe('timeout');
    expect(onLate).not.toHaveBeenCalled();
    await clock.drain();
    expect(onLate).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ ok: true, data: fine }),
    );
  });
});

it.each([
  [true, base],
  [true, { ...acting, effect: 'idempotent' }],
  [false, acting],
  [true, { ...acting, retryUnsent: true }],
] as const)('tells the handler whether an unsent write may be retried: %s', async (may, more) => {
  const handler = (_args: unknown, context: ToolContext) => ({
    id: 'a',
    n: context.retryUnsent ? 1 : 0,
  });
  const { data } = await run(toolWith(handler as () => unknown, more), { id: 'a' });
  expect(data).toEqual({ id: 'a', n: may ? 1 : 0 });
});

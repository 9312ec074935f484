import { VirtualClock } from '@toolkeel/kernel/testing';
import { describe, expect, expectTypeOf, it, vi } from 'vitest';
import { defineTool } from '../tool/define.js';
import { answer, toolError } from '../tool/result.js';
import { runTool, startTool } from './run-tool.js';
import { acting, base, reading, run, throwing, toolWith } from './run.fixture.js';
import { args, fine, never, turn } from './deadline.fixture.js';
import type { RunOptions, Settled } from './options.js';

describe('a call that succeeds', () => {
  it('answers with data, time and correlation id', async () => {
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

  it('gives its data a type', async () => {
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

  it('hands defaults to the handler and nothing that its schema does not name', async () => {
    const extra = toolWith(() => ({ id: 'a', n: 1, secret: 'x' }));
    expect(await run(extra, { id: 'a' })).toMatchObject({ data: { id: 'a', n: 1 } });
    expect((await run(extra, { id: 'a' })).data).not.toHaveProperty('secret');
  });

  it('makes up a correlation id where none is given', async () => {
    const [one, two] = [await run(reading, { id: 'a' }), await run(reading, { id: 'a' })];
    expect(one.meta.correlation_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(one.meta.correlation_id).not.toBe(two.meta.correlation_id);
  });

  it('carries the limits that the upstream told', async () => {
    const rateLimit = { limit: 300, remaining: 12, reset: '2026-01-01T00:00:00.000Z' };
    const tool = toolWith(() => answer({ id: 'a', n: 1 }, { rateLimit }));
    expect(await run(tool, { id: 'a' })).toMatchObject({ meta: { rate_limit: rateLimit } });
  });

  it('shows the mode in workflow', async () => {
    const profile = { name: 'workflow', mode: 'autopilot', approvalMode: false } as const;
    expect((await run(reading, { id: 'a' }, { profile })).meta).toMatchObject({
      mode: 'autopilot',
      approval_mode: false,
    });
  });

  it('counts the retries that the handler noted, or those of the host', async () => {
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

  it('gives the handler its surroundings', async () => {
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

  it('gives every handler a signal of its own where the host gives none', async () => {
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

describe('a call that needs no promise', () => {
  const limits = { deadline: performance.now() + 60_000, signal: new AbortController().signal };

  it.each<[string, () => unknown]>([
    ['a value', () => fine],
    ['an error', () => toolError('not_found', 'x')],
    ['a failure', throwing(new Error('x'))],
  ])('makes none for %s', (_, handler) => {
    expect(startTool(toolWith(handler), args, limits)).toHaveProperty('envelope.success');
    expect(startTool(toolWith(handler), args)).toHaveProperty('envelope.success');
  });

  it('makes none for arguments that are refused', () => {
    expect(startTool(reading, {}, limits)).toMatchObject({
      envelope: { error: { code: 'validation_error' } },
    });
  });

  it('waits for anything that can be waited for', async () => {
    const thenable = { then: (tell: (value: unknown) => void) => tell(fine) };
    for (const handler of [async () => fine, () => thenable]) {
      const started = startTool(toolWith(handler), args);
      expect(started).toBeInstanceOf(Promise);
      expect((await started).envelope.data).toEqual(fine);
    }
  });

  it('is not deceived by data that has a member called then', () => {
    const tool = toolWith(() => ({ ...fine, then: 'no function' }));
    expect(startTool(tool, args)).toMatchObject({ envelope: { data: fine } });
  });
});

it('what the host gives reaches the handler where nothing stands around it', async () => {
  const signal = new AbortController().signal;
  const seen = vi.fn();
  const tool = { ...reading, handler: (_: unknown, context: object) => (seen(context), fine) };
  await run(tool, args, {
    extraContext: { signal, deadline: 5 },
    deadline: performance.now() + 60_000,
  });
  expect(seen.mock.calls[0]?.[0]).toMatchObject({ signal, deadline: 5 });
});

describe('a call that is not done at once', () => {
  it('can be ended by its host with a failure of its own', async () => {
    const tool = toolWith(never, acting);
    const onPending = vi.fn<NonNullable<RunOptions['onPending']>>((end) => {
      const { input } = toolError('cancelled', 'Closing time.', { outcome: 'unknown' });
      setImmediate(() => end({ ok: false, error: input }));
    });
    const { error } = await run(tool, args, { onPending, deadline: performance.now() + 60_000 });
    expect(error).toMatchObject({ code: 'cancelled', message: 'Closing time.' });
    expect(onPending).toHaveBeenCalledOnce();
  });

  it('does not bother its host when it is', async () => {
    const onPending = vi.fn();
    await run(reading, args, { onPending, deadline: performance.now() + 60_000 });
    await turn();
    expect(onPending).not.toHaveBeenCalled();
  });

  it('tells its host what came too late', async () => {
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

import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { containing, like } from '../matchers.fixture.js';
import { raise, toolError } from '../tool/result.js';
import { acting, reading, run, throwing, toolWith } from './run.fixture.js';
import type { Tool } from '../tool/tool.js';
import { type Middleware, processClock, type RunClock, type RunOptions } from './options.js';
import { runTool } from './run-tool.js';

describe('a tool error', () => {
  it("becomes the envelope's error", async () => {
    const tool = toolWith(() =>
      toolError('upstream_unavailable', 'Down.', { retryAfterMs: 5, details: { status: 503 } }),
    );
    expect(await run(tool, { id: 'a' })).toMatchObject({
      success: false,
      data: null,
      error: {
        code: 'upstream_unavailable',
        message: 'Down.',
        retryable: true,
        retry_after_ms: 5,
        details: { status: 503 },
      },
    });
  });

  it('can be thrown', async () => {
    const tool = toolWith(() => raise(toolError('not_found', 'No such item.')));
    expect((await run(tool, { id: 'a' })).error).toMatchObject({
      code: 'not_found',
      message: 'No such item.',
    });
  });

  it('with an undeclared code is a reported internal error', async () => {
    const onUnexpected = vi.fn();
    const tool = toolWith(() => toolError('forbidden', 'secret reason'));
    const { error } = await run(tool, { id: 'a' }, { onUnexpected, correlationId: 'c-1' });
    expect(error?.code).toBe('internal_error');
    expect(error?.message).not.toContain('secret');
    expect(onUnexpected).toHaveBeenCalledExactlyOnceWith(
      like({
        message: containing('"get_item" returned forbidden'),
      }),
      'c-1',
    );
  });

  it('includes declared partial data', async () => {
    const partial = z.object({ done: z.array(z.string()) });
    const tool = toolWith(() => toolError('not_found', 'x', { data: { done: ['a'], more: 1 } }), {
      partial,
    });
    expect((await run(tool, { id: 'a' })).data).toEqual({ done: ['a'] });
  });

  it.each<[string, unknown, z.ZodType | undefined]>([
    ['not declared', { done: ['a'] }, undefined],
    ['of another shape', { done: 'a' }, z.object({ done: z.array(z.string()) })],
    ['not JSON', { done: 1n }, z.object({ done: z.unknown() })],
  ])('keeps its code and drops partial data that is %s', async (_, data, partial) => {
    const onUnexpected = vi.fn();
    const tool = toolWith(() => toolError('not_found', 'x', { data }), partial ? { partial } : {});
    expect(await run(tool, { id: 'a' }, { onUnexpected })).toMatchObject({
      data: null,
      error: { code: 'not_found' },
    });
    expect(onUnexpected).toHaveBeenCalledOnce();
  });

  it('has no outcome for reads', async () => {
    const tool = toolWith(() => toolError('not_found', 'x', { outcome: 'not_executed' }));
    expect((await run(tool, { id: 'a' })).error).not.toHaveProperty('outcome');
  });

  it('keeps the message of a failure with partial data', async () => {
    const message = 'One is done. Two has an unknown outcome. The same call checks it.';
    const half = toolWith(
      () => toolError('upstream_unavailable', message, { outcome: 'unknown', data: { id: 'a' } }),
      { ...acting, partial: z.object({ id: z.string() }) },
    );
    expect((await run(half, { id: 'a' })).error).toMatchObject({
      code: 'outcome_unknown',
      message,
      retryable: false,
    });
  });

  it('is not retryable if the outcome is unknown', async () => {
    const unknown = () =>
      toolError('upstream_unavailable', 'x', { outcome: 'unknown', details: { status: 502 } });
    expect((await run(toolWith(unknown, acting), { id: 'a' })).error).toEqual({
      code: 'outcome_unknown',
      message: containing('Do not repeat'),
      retryable: false,
      outcome: 'unknown',
      details: { cause_code: 'upstream_unavailable', status: 502 },
    });
    const idempotent = toolWith(unknown, { ...acting, effect: 'idempotent' });
    expect((await run(idempotent, { id: 'a' })).error).toMatchObject({
      code: 'upstream_unavailable',
      retryable: true,
      outcome: 'unknown',
    });
  });
});

describe('an unexpected error', () => {
  const secret = 'sk-live-0123456789';
  const hostile = new Proxy(
    {},
    { get: throwing(new Error(secret)), has: throwing(new Error(secret)) },
  );

  const brokenClock: RunClock = { ...processClock, now: throwing(new Error(secret)) };

  it.each<[string, () => unknown]>([
    ['a thrown error', throwing(new Error(`${secret} at /home/me/app.ts`))],
    ['a thrown text', throwing(secret)],
    ['a thrown null', throwing(null)],
    ['a thrown undefined', throwing(undefined)],
    ['a thrown object', throwing({ message: secret, fault: 7 })],
    ['a thrown proxy', throwing(hostile)],
    ['a thrown object with a bad fault', throwing({ fault: { kind: 'toString', sent: 'no' } })],
    ['a rejection', () => Promise.reject(new Error(secret))],
    ['a rejected undefined', () => Promise.reject(undefined)],
    [
      'a getter that throws',
      () => ({
        id: 'a',
        get n() {
          throw new Error(secret);
        },
      }),
    ],
    ['a thenable that throws', () => ({ then: throwing(new Error(secret)) })],
    ['a proxy that throws', () => hostile],
    [
      'an error with a bad code',
      throwing({ fault: { kind: 'rate_limited', sent: 'no', retryAfterMs: -1 } }),
    ],
  ])('%s is an internal error that leaks nothing', async (_, handler) => {
    const onUnexpected = vi.fn();
    const { envelope, text } = await runTool(
      toolWith(handler),
      { id: 'a' },
      { onUnexpected, correlationId: 'c-1' },
    );
    expect(envelope.error).toEqual({
      code: 'internal_error',
      message: containing('correlation_id'),
      retryable: false,
    });
    expect(text).not.toContain(secret);
    expect(text).not.toMatch(/\/home|\.ts|stack/);
    expect(onUnexpected).toHaveBeenCalledOnce();
    expect(onUnexpected.mock.lastCall?.[1]).toBe('c-1');
  });

  it('is passed to the hook', async () => {
    const cause = new Error(secret);
    const onUnexpected = vi.fn();
    await run(toolWith(throwing(cause)), { id: 'a' }, { onUnexpected });
    expect(onUnexpected.mock.calls[0]?.[0]).toBe(cause);
  });

  it('leaves the outcome of a mutation unknown', async () => {
    const { error } = await run(toolWith(throwing(new Error('x')), acting), { id: 'a' });
    expect(error).toMatchObject({ code: 'internal_error', outcome: 'unknown' });
  });

  it('of a hook, clock, middleware or option is an internal error', async () => {
    const fail = throwing(new Error(secret));
    const cases: RunOptions[] = [
      { onUnexpected: fail, middleware: fail },
      { clock: brokenClock, middleware: fail },
      { clock: brokenClock, deadline: 5 },
      { clock: { ...processClock, now: () => Number.NaN }, deadline: 5 },
      { clock: { ...processClock, setTimer: fail }, deadline: 1e12 },
      { deadline: Number.NaN },
      { deadline: '5' as unknown as number },
      { signal: {} as AbortSignal },
      { retryCount: fail, middleware: fail },
      { middleware: () => Promise.reject(new Error(secret)) },
      { middleware: (() => undefined) as unknown as Middleware },
      { middleware: (() => ({ ok: false })) as unknown as Middleware },
      {
        get correlationId(): string {
          throw new Error(secret);
        },
      },
      { profile: { name: 'workflow' } as never },
    ];
    for (const options of cases) {
      expect((await run(reading, { id: 'a' }, options)).error?.code).toBe('internal_error');
    }
  });

  it('of the clock does not hide a success', async () => {
    const fail = throwing(new Error(secret));
    const envelope = await run(reading, { id: 'a' }, { clock: brokenClock, retryCount: fail });
    expect(envelope).toMatchObject({ success: true, meta: { elapsed_ms: 0, retry_count: 0 } });
  });

  it.each<[string, unknown]>([
    ['a proxy', hostile],
    [
      'a revoked proxy',
      (() => {
        const { proxy, revoke } = Proxy.revocable({}, {});
        revoke();
        return proxy;
      })(),
    ],
    [
      'a getter',
      {
        get id() {
          throw new Error(secret);
        },
      },
    ],
  ])('arguments with %s that throws are an internal error', async (_, args) => {
    const { envelope, text } = await runTool(reading, args);
    expect(envelope.error?.code).toMatch(/^(?:internal|validation)_error$/);
    expect(text).not.toContain(secret);
  });

  it('includes an invalid tool', async () => {
    for (const tool of [{}, null, undefined, 5] as unknown as Tool[]) {
      expect((await run(tool, {})).error?.code).toBe('internal_error');
    }
    expect((await run(reading, {}, null as unknown as RunOptions)).error?.code).toBe(
      'internal_error',
    );
  });
});

import { describe, expect, it, vi } from 'vitest';
import { containing } from '../matchers.fixture.js';
import type { Tool } from '../tool/tool.js';
import { processClock, type RunClock } from './clock.js';
import type { Middleware, RunOptions } from './options.js';
import { runTool } from './run-tool.js';
import { acting, reading, run, throwing, toolWith } from './run.fixture.js';

describe('what nobody foresaw', () => {
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
  ])('%s is an internal error that gives nothing away', async (_, handler) => {
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

  it('hands the very cause to the hook', async () => {
    const cause = new Error(secret);
    const onUnexpected = vi.fn();
    await run(toolWith(throwing(cause)), { id: 'a' }, { onUnexpected });
    expect(onUnexpected.mock.calls[0]?.[0]).toBe(cause);
  });

  it('leaves a mutation unknown', async () => {
    const { error } = await run(toolWith(throwing(new Error('x')), acting), { id: 'a' });
    expect(error).toMatchObject({ code: 'internal_error', outcome: 'unknown' });
  });

  it('is an internal error also when a hook, a clock, a middleware or an option fails', async () => {
    const fail = throwing(new Error(secret));
    const cases: RunOptions[] = [
      { onUnexpected: fail, around: fail },
      { clock: brokenClock, around: fail },
      { clock: brokenClock, deadline: 5 },
      { clock: { ...processClock, now: () => Number.NaN }, deadline: 5 },
      { clock: { ...processClock, setTimer: fail }, deadline: 1e12 },
      { deadline: Number.NaN },
      { deadline: '5' as unknown as number },
      { signal: {} as AbortSignal },
      { retryCount: fail, around: fail },
      { around: () => Promise.reject(new Error(secret)) },
      { around: (() => undefined) as unknown as Middleware },
      { around: (() => ({ ok: false })) as unknown as Middleware },
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

  it('does not hide a success when only the clock fails', async () => {
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
  ])('arguments behind %s that throws are an internal error', async (_, args) => {
    const { envelope, text } = await runTool(reading, args);
    expect(envelope.error?.code).toMatch(/^(?:internal|validation)_error$/);
    expect(text).not.toContain(secret);
  });

  it('includes a tool that is none', async () => {
    for (const tool of [{}, null, undefined, 5] as unknown as Tool[]) {
      expect((await run(tool, {})).error?.code).toBe('internal_error');
    }
    expect((await run(reading, {}, null as unknown as RunOptions)).error?.code).toBe(
      'internal_error',
    );
  });
});

import type { Fault } from '@toolkeel/kernel';
import { VirtualClock } from '@toolkeel/kernel/testing';
import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { InconsistentEnvelopeError, InconsistentErrorError } from '../envelope/error.js';
import { some } from '../matchers.fixture.js';
import { acceptControls } from '../tool/controls.js';
import { defineTool } from '../tool/define.js';
import { toolError } from '../tool/result.js';
import { withSendToken, type SendToken } from '../tool/send.js';
import type { Middleware, Settled } from './options.js';
import { runTool, startTool } from './run-tool.js';
import { acting, base, reading, run, toolWith } from './run.fixture.js';

describe('a middleware', () => {
  const controlled = acceptControls(defineTool({ ...acting, account: 'main' }));

  it('receives the accepted call and the settled result', async () => {
    const seen: unknown[] = [];
    const middleware: Middleware = async (call, next) => {
      const settled = await next();
      seen.push({ ...call, tool: call.tool.name }, settled);
      return settled;
    };
    const key = 'k'.repeat(16);
    const envelope = await run(
      controlled,
      { id: 'a', idempotency_key: key, allow_duplicate: true },
      { middleware, correlationId: 'c-1' },
    );
    expect(seen).toEqual([
      {
        tool: 'get_item',
        args: { id: 'a', limit: 10 },
        controls: { idempotencyKey: key, allowDuplicate: true },
        account: 'main',
        accountId: expect.any(Function) as never,
        correlationId: 'c-1',
        check: expect.any(Function) as unknown,
      },
      { ok: true, data: { id: 'a', n: 10 } },
    ]);
    expect(envelope.data).toEqual({ id: 'a', n: 10 });
  });

  it('is not called with invalid arguments', async () => {
    const middleware = vi.fn<Middleware>();
    await run(controlled, { id: 1 }, { middleware });
    await run(controlled, { id: 'a', idempotency_key: 'short' }, { middleware });
    expect(middleware).not.toHaveBeenCalled();
  });

  it('can answer instead of the handler, with codes of policy and journal', async () => {
    const handler = vi.fn();
    const middleware: Middleware = () =>
      Promise.resolve({
        ok: false,
        error: { code: 'approval_required', message: 'Ask.', operationId: 'op_1' },
      });
    const { error } = await run({ ...controlled, handler }, { id: 'a' }, { middleware });
    expect(error).toEqual({
      code: 'approval_required',
      message: 'Ask.',
      retryable: false,
      policy_decision: 'routed_to_approval',
      outcome: 'not_executed',
      operation_id: 'op_1',
    });
    expect(handler).not.toHaveBeenCalled();
  });

  it('cannot use the codes of mutations for a read', async () => {
    const middleware: Middleware = () =>
      Promise.resolve({ ok: false, error: { code: 'approval_required', message: 'Ask.' } });
    expect((await run(reading, { id: 'a' }, { middleware })).error?.code).toBe('internal_error');
  });

  const answering =
    (settled: unknown): Middleware =>
    () =>
      Promise.resolve(settled as Settled);

  it('cannot return an inconsistent error; valid meta fields are kept', async () => {
    const onUnexpected = vi.fn();
    const rateLimit = { limit: 9, remaining: 0, reset: '2026-01-01T00:00:00.000Z' };
    const idempotency = { replayed: true };
    const middleware = answering({
      ok: false,
      error: { code: 'approval_required', message: 'x', outcome: 'executed' },
      rateLimit,
      idempotency,
    });
    const envelope = await run(controlled, { id: 'a' }, { middleware, onUnexpected });
    expect(envelope.error).toMatchObject({ code: 'internal_error', outcome: 'unknown' });
    expect(envelope.meta).toMatchObject({ rate_limit: rateLimit, idempotency });
    expect(onUnexpected).toHaveBeenCalledExactlyOnceWith(
      some(InconsistentErrorError),
      some(String),
    );
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['of another shape', { id: 1, n: 1 }],
    ['with a member that JSON cannot carry', { id: 'a', n: Number.NaN }],
  ])('cannot return invalid data: %s', async (_, data) => {
    const onUnexpected = vi.fn();
    const middleware = answering({ ok: true, data });
    const { error } = await run(controlled, { id: 'a' }, { middleware, onUnexpected });
    expect(error).toMatchObject({ code: 'serialization_error', outcome: 'executed' });
    expect(onUnexpected).toHaveBeenCalledOnce();
  });

  it('cannot add members to the data', async () => {
    const middleware = answering({ ok: true, data: { id: 'a', n: 1, secret: 's' } });
    expect((await run(controlled, { id: 'a' }, { middleware })).data).toEqual({ id: 'a', n: 1 });
  });

  it('cannot return undeclared partial data', async () => {
    const onUnexpected = vi.fn();
    const error = { code: 'not_found', message: 'x' };
    const middleware = answering({ ok: false, error, data: { secret: 's' } });
    const envelope = await run(controlled, { id: 'a' }, { middleware, onUnexpected });
    expect(envelope).toMatchObject({ data: null, error: { code: 'not_found' } });
    expect(onUnexpected).toHaveBeenCalledOnce();
  });

  it('cannot return partial data as the result', async () => {
    const tool = toolWith(() => toolError('not_found', 'x', { data: { done: 1 } }), {
      partial: z.object({ done: z.int() }),
    });
    const middleware: Middleware = async (_, next) => ({ ok: true, data: (await next()).data });
    expect((await run(tool, { id: 'a' }, { middleware })).error?.code).toBe('serialization_error');
  });

  it("does not cause a second validation of the handler's data", async () => {
    const tool = defineTool(base);
    const parse = vi.spyOn(tool.output, 'safeParse');
    const middleware: Middleware = async (_, next) => ({
      ...(await next()),
      idempotency: { replayed: false },
    });
    expect((await run(tool, { id: 'a' }, { middleware })).success).toBe(true);
    expect(parse).toHaveBeenCalledOnce();
    parse.mockRestore();
  });

  it.each<[string, object, string]>([
    ['key', { idempotency: { key: 5, replayed: true } }, 'idempotency'],
    ['replayed', { idempotency: { replayed: 'yes' } }, 'idempotency'],
    ['first_at', { idempotency: { replayed: true, first_at: 'yesterday' } }, 'idempotency'],
    ['no object', { idempotency: null }, 'idempotency'],
    [
      'limit',
      { rateLimit: { limit: Number.NaN, remaining: 1, reset: '2026-01-01T00:00:00Z' } },
      'rate_limit',
    ],
    ['reset', { rateLimit: { limit: 1, remaining: 1, reset: 'soon' } }, 'rate_limit'],
  ])('cannot prevent the answer with an invalid figure: %s', async (_, figures, field) => {
    const onUnexpected = vi.fn();
    const middleware: Middleware = async (__, next) => ({ ...(await next()), ...figures });
    const envelope = await run(controlled, { id: 'a' }, { middleware, onUnexpected });
    expect(envelope.success).toBe(true);
    expect(envelope.meta).not.toHaveProperty(field);
    expect(onUnexpected).toHaveBeenCalledExactlyOnceWith(
      some(InconsistentEnvelopeError),
      some(String),
    );
  });

  it('replays stored JSON', async () => {
    const idempotency = {
      key: 'k'.repeat(16),
      replayed: true,
      first_at: '2026-01-01T00:00:00.000Z',
    };
    let stored = '';
    const storing: Middleware = async (_, next) => {
      const settled = await next();
      stored = JSON.stringify(settled);
      return settled;
    };
    const replaying: Middleware = () => Promise.resolve({ ...JSON.parse(stored), idempotency });
    const reset = new Date('2026-02-01T00:00:00Z');
    const failing = toolWith(
      () => toolError('not_found', 'Gone.', { rateLimitReset: reset }),
      acting,
    );
    for (const tool of [controlled, failing]) {
      const first = await run(tool, { id: 'a' }, { middleware: storing });
      const again = await run(tool, { id: 'a' }, { middleware: replaying });
      expect(again).toMatchObject({ data: first.data, meta: { idempotency } });
      expect(again.error).toEqual(first.error);
    }
  });

  it('can add the operation and an earlier deadline to the context', async () => {
    const operation = {
      id: 'op_1',
      account: 'default',
      send: <T>(write: (token: SendToken) => Promise<T>) => withSendToken(1, write),
      others: () => Promise.resolve([]),
      step: <T>(_: string, work: () => Promise<T>) => work(),
    };
    const tool = defineTool({
      ...acting,
      handler: async ({ id }, context) => {
        const fence = await context.operation?.send(async (token) => token.fence);
        return { id: `${id}-${context.operation?.id}`, n: context.deadline + (fence ?? 0) };
      },
    });
    const middleware: Middleware = (_, next) => next({ operation, deadline: 5 });
    const clock = new VirtualClock();
    expect((await run(tool, { id: 'a' }, { middleware, deadline: 100, clock })).data).toEqual({
      id: 'a-op_1',
      n: 6,
    });
  });

  it('receives the fault, which never reaches the envelope', async () => {
    const fault: Fault = { kind: 'network', sent: 'maybe', cause: new Error('secret') };
    const tool = toolWith(() => {
      throw Object.assign(new Error('x'), { fault });
    }, acting);
    let seen: unknown;
    const middleware: Middleware = async (_, next) => {
      const settled = await next();
      seen = settled.ok ? undefined : settled.fault;
      return settled;
    };
    const { text } = await runTool(tool, { id: 'a' }, { middleware });
    expect(seen).toBe(fault);
    expect(text).not.toContain('secret');
  });
});

describe('admit', () => {
  it('ends a call before its middleware and its handler, without a promise', () => {
    const handler = vi.fn(() => ({ id: 'a', n: 1 }));
    const middleware = vi.fn<Middleware>();
    const refusal = toolError('policy_denied_user_rule', 'denied', {
      outcome: 'not_executed',
    }).input;
    const tool = acceptControls(defineTool({ ...acting, account: 'main', handler }));
    const ended = startTool(
      tool,
      { id: 'a' },
      { middleware, admit: () => ({ ok: false, error: refusal }) },
    );
    expect(ended).toMatchObject({ envelope: { error: { code: 'policy_denied_user_rule' } } });
    expect(handler).not.toHaveBeenCalled();
    expect(middleware).not.toHaveBeenCalled();
  });

  it('keeps a synchronous tool synchronous', () => {
    const tool = { ...reading, handler: () => ({ id: 'a', n: 1 }) };
    expect(startTool(tool, { id: 'a' }, { admit: () => undefined })).toMatchObject({
      envelope: { success: true },
    });
  });
});

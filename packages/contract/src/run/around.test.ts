import type { Fault } from '@toolkeel/kernel';
import { describe, expect, it, vi } from 'vitest';
import { acceptControls } from '../tool/controls.js';
import { defineTool } from '../tool/define.js';
import { toolError } from '../tool/result.js';
import type { Around } from './options.js';
import { runTool } from './run-tool.js';
import { acting, reading, run, toolWith } from './run.fixture.js';

describe('what stands around the handler', () => {
  const controlled = acceptControls(defineTool({ ...acting, account: 'main' }));

  it('sees the accepted call and the settled answer', async () => {
    const seen: unknown[] = [];
    const around: Around = async (call, next) => {
      const settled = await next();
      seen.push({ ...call, tool: call.tool.name }, settled);
      return settled;
    };
    const key = 'k'.repeat(16);
    const envelope = await run(
      controlled,
      { id: 'a', idempotency_key: key, allow_duplicate: true },
      { around, correlationId: 'c-1' },
    );
    expect(seen).toEqual([
      {
        tool: 'get_item',
        args: { id: 'a', limit: 10 },
        controls: { idempotencyKey: key, allowDuplicate: true },
        account: 'main',
        correlationId: 'c-1',
      },
      { ok: true, data: { id: 'a', n: 10 } },
    ]);
    expect(envelope.data).toEqual({ id: 'a', n: 10 });
  });

  it('is not asked about arguments that are refused', async () => {
    const around = vi.fn<Around>();
    await run(controlled, { id: 1 }, { around });
    await run(controlled, { id: 'a', idempotency_key: 'short' }, { around });
    expect(around).not.toHaveBeenCalled();
  });

  it('can answer in place of the handler, with the codes of policy and journal', async () => {
    const handler = vi.fn();
    const around: Around = () =>
      Promise.resolve({
        ok: false,
        error: { code: 'approval_required', message: 'Ask.', operationId: 'op_1' },
      });
    const { error } = await run({ ...controlled, handler }, { id: 'a' }, { around });
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

  it('cannot answer a read with them', async () => {
    const around: Around = () =>
      Promise.resolve({ ok: false, error: { code: 'approval_required', message: 'Ask.' } });
    expect((await run(reading, { id: 'a' }, { around })).error?.code).toBe('internal_error');
  });

  it('cannot make an error that contradicts itself', async () => {
    const onUnexpected = vi.fn();
    const around = (() =>
      Promise.resolve({
        ok: false,
        error: { code: 'approval_required', message: 'x', outcome: 'executed' },
      })) as unknown as Around;
    expect((await run(controlled, { id: 'a' }, { around, onUnexpected })).error?.code).toBe(
      'internal_error',
    );
    expect(onUnexpected).toHaveBeenCalledOnce();
  });

  it('replays what was stored as JSON', async () => {
    const idempotency = {
      key: 'k'.repeat(16),
      replayed: true,
      first_at: '2026-01-01T00:00:00.000Z',
    };
    let stored = '';
    const storing: Around = async (_, next) => {
      const settled = await next();
      stored = JSON.stringify(settled);
      return settled;
    };
    const replaying: Around = () => Promise.resolve({ ...JSON.parse(stored), idempotency });
    const reset = new Date('2026-02-01T00:00:00Z');
    const failing = toolWith(
      () => toolError('not_found', 'Gone.', { rateLimitReset: reset }),
      acting,
    );
    for (const tool of [controlled, failing]) {
      const first = await run(tool, { id: 'a' }, { around: storing });
      const again = await run(tool, { id: 'a' }, { around: replaying });
      expect(again).toMatchObject({ data: first.data, meta: { idempotency } });
      expect(again.error).toEqual(first.error);
    }
  });

  it('can add the operation and an earlier deadline to the context', async () => {
    const operation = {
      id: 'op_1',
      sending: () => Promise.resolve({ token: 1 }),
      step: <T>(_: string, work: () => Promise<T>) => work(),
    };
    const tool = defineTool({
      ...acting,
      handler: async ({ id }, context) => {
        const fence = await context.operation?.sending();
        return { id: `${id}-${context.operation?.id}`, n: context.deadline + (fence?.token ?? 0) };
      },
    });
    const around: Around = (_, next) => next({ operation, deadline: 5 });
    expect((await run(tool, { id: 'a' }, { around, deadline: 100 })).data).toEqual({
      id: 'a-op_1',
      n: 6,
    });
  });

  it('gets the fault, which never reaches the answer', async () => {
    const fault: Fault = { kind: 'network', sent: 'maybe', cause: new Error('secret') };
    const tool = toolWith(() => {
      throw Object.assign(new Error('x'), { fault });
    }, acting);
    let seen: unknown;
    const around: Around = async (_, next) => {
      const settled = await next();
      seen = settled.ok ? undefined : settled.fault;
      return settled;
    };
    const { text } = await runTool(tool, { id: 'a' }, { around });
    expect(seen).toBe(fault);
    expect(text).not.toContain('secret');
  });
});

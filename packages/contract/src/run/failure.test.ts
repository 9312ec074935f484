import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { containing, like } from '../matchers.fixture.js';
import { raise } from '../tool/raise.js';
import { toolError } from '../tool/result.js';
import { acting, run, toolWith } from './run.fixture.js';

describe('a tool error', () => {
  it('becomes the error of the envelope', async () => {
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

  it('may also be thrown', async () => {
    const tool = toolWith(() => raise(toolError('not_found', 'No such item.')));
    expect((await run(tool, { id: 'a' })).error).toMatchObject({
      code: 'not_found',
      message: 'No such item.',
    });
  });

  it('of a code that was not declared is an internal error, and loud', async () => {
    const onUnexpected = vi.fn();
    const tool = toolWith(() => toolError('forbidden', 'secret reason'));
    const { error } = await run(tool, { id: 'a' }, { onUnexpected, correlationId: 'c-1' });
    expect(error?.code).toBe('internal_error');
    expect(error?.message).not.toContain('secret');
    expect(onUnexpected).toHaveBeenCalledExactlyOnceWith(
      like({
        message: containing('"get_item" answered with forbidden'),
      }),
      'c-1',
    );
  });

  it('carries a part where the tool declares one', async () => {
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
  ])('keeps its code and loses a part that is %s', async (_, data, partial) => {
    const onUnexpected = vi.fn();
    const tool = toolWith(() => toolError('not_found', 'x', { data }), partial ? { partial } : {});
    expect(await run(tool, { id: 'a' }, { onUnexpected })).toMatchObject({
      data: null,
      error: { code: 'not_found' },
    });
    expect(onUnexpected).toHaveBeenCalledOnce();
  });

  it('says nothing of an outcome for a tool that only reads', async () => {
    const tool = toolWith(() => toolError('not_found', 'x', { outcome: 'not_executed' }));
    expect((await run(tool, { id: 'a' })).error).not.toHaveProperty('outcome');
  });

  it('keeps the words of who tells what was achieved and how to go on', async () => {
    const message = 'One is done. Nobody knows of two. The same call looks for it.';
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

  it('does not advise to repeat what may have happened', async () => {
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

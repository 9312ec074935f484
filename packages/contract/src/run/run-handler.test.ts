import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { containing } from '../matchers.fixture.js';
import { answer } from '../tool/result.js';
import { runTool } from './run-tool.js';
import { acting, base, run, toolWith } from './run.fixture.js';

describe('an invalid result', () => {
  const open = z.object({ v: z.unknown() });
  const cycle: { v?: unknown } = {};
  cycle.v = { cycle };

  it.each<[string, unknown, z.ZodType, string]>([
    ['of another shape', { id: 1, n: 1 }, base.output, 'data.id'],
    ['nothing', undefined, base.output, 'data'],
    ['nothing where anything goes', undefined, z.unknown(), 'data'],
    ['a BigInt', { v: 1n }, open, 'data.v'],
    ['a cycle', cycle, open, 'data.v'],
    ['NaN', { v: [1, Number.NaN] }, open, 'data.v[1]'],
    ['Infinity', { v: { w: Number.POSITIVE_INFINITY } }, open, 'data.v.*'],
    ['NaN where a number is due', { id: 'a', n: Number.NaN }, base.output, 'data.n'],
    ['undefined in a list', { v: [undefined] }, open, 'data.v[0]'],
    ['a Date', { v: new Date() }, open, 'data.v'],
    ['a Map', { v: new Map() }, open, 'data.v'],
    ['a function', { v: () => 1 }, open, 'data.v'],
    ['something with toJSON', { v: { toJSON: () => 'x' } }, open, 'data.v.*'],
  ])('%s is a serialization error', async (_, data, output, field) => {
    const onUnexpected = vi.fn();
    const { error } = await run(
      toolWith(() => data, { output }),
      { id: 'a' },
      { onUnexpected },
    );
    expect(error?.code).toBe('serialization_error');
    expect(error?.details).toMatchObject({ field: containing(field) });
    expect(onUnexpected).toHaveBeenCalledOnce();
  });

  const secret = 'Authorization: Bearer sk-live-0123456789';
  const named = z.object({ id: z.string() });
  it.each<[string, unknown, z.ZodType, object]>([
    [
      'an unexpected key',
      { id: 'a', [secret]: 1 },
      z.strictObject({ id: z.string() }),
      { field: 'data', reason: 'unrecognized_keys' },
    ],
    [
      'the key of a record',
      { of: { [secret]: { id: 1 } } },
      z.object({ of: z.record(z.string(), named) }),
      { field: 'data.of.*.id', reason: 'invalid_type' },
    ],
    [
      'a message that quotes its input',
      { id: secret },
      z.object({
        id: z.string().refine(() => false, { error: ({ input }) => `bad: ${String(input)}` }),
      }),
      { field: 'data.id', reason: 'custom' },
    ],
    [
      'a code that is none',
      { id: secret },
      z.object({
        id: z.string().check(({ value, issues }) => {
          issues.push({ code: value, input: value, message: value } as never);
        }),
      }),
      { field: 'data.id', reason: 'custom' },
    ],
    [
      'the key of what JSON cannot carry',
      { v: [{ [secret]: 1n }] },
      open,
      { field: 'data.v[0].*', reason: 'bigint' },
    ],
  ])('does not leak a secret: %s', async (_, data, output, details) => {
    const onUnexpected = vi.fn();
    const { envelope, text } = await runTool(
      toolWith(() => data, { output }),
      { id: 'a' },
      { onUnexpected },
    );
    expect(text).not.toContain('sk-live');
    expect(envelope.error).toMatchObject({ code: 'serialization_error', details });
    const reported = onUnexpected.mock.lastCall?.[0] as Error;
    expect(reported.message + JSON.stringify(reported.cause)).toContain('sk-live');
  });

  it('drops an invalid rate limit and keeps the data', async () => {
    const onUnexpected = vi.fn();
    const rateLimit = { limit: Number.NaN, remaining: -1, reset: 'soon' };
    const tool = toolWith(() => answer({ id: 'a', n: 1 }, { rateLimit }));
    const envelope = await run(tool, { id: 'a' }, { onUnexpected });
    expect(envelope).toMatchObject({ success: true, data: { id: 'a', n: 1 } });
    expect(envelope.meta).not.toHaveProperty('rate_limit');
    expect(onUnexpected).toHaveBeenCalledOnce();
  });

  it('of a mutation counts as executed', async () => {
    const { error } = await run(
      toolWith(() => ({}), acting),
      { id: 'a' },
    );
    expect(error).toMatchObject({ code: 'serialization_error', outcome: 'executed' });
  });

  it('of a mutation counts as executed if its data cannot be read', async () => {
    const data = {
      get id() {
        throw new Error('secret');
      },
    };
    const { error } = await run(
      toolWith(() => data, acting),
      { id: 'a' },
    );
    expect(error).toMatchObject({ code: 'internal_error', outcome: 'executed' });
  });

  it('drops undefined members, as JSON does', async () => {
    const tool = toolWith(() => ({ v: { a: undefined, b: 1 } }), { output: open });
    const { envelope, text } = await runTool(tool, { id: 'a' });
    expect(envelope.success).toBe(true);
    expect(text).toContain('"data":{"v":{"b":1}}');
  });
});

import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { defineTool } from '../tool/define.js';
import type { Tool } from '../tool/tool.js';
import type { AcceptedCall, Next } from './options.js';
import { runTool } from './run-tool.js';
import { acting, base, reading, run } from './run.fixture.js';

describe('arguments', () => {
  const issuesOf = async (args: unknown, tool: Tool = reading) => {
    const handler = vi.fn();
    const envelope = await run({ ...tool, handler }, args);
    expect(handler).not.toHaveBeenCalled();
    expect(envelope).toMatchObject({
      success: false,
      data: null,
      error: { code: 'validation_error' },
    });
    return envelope.success
      ? undefined
      : (envelope.error.details as { issues: { field: string; message: string }[] }).issues;
  };

  it.each<[string, unknown, string]>([
    ['a wrong type', { id: 1 }, 'id'],
    ['a missing one', {}, 'id'],
    ['too large a number', { id: 'a', limit: 101 }, 'limit'],
    ['an unknown one', { id: 'a', colour: 'red' }, 'colour'],
    ['null', null, '(arguments)'],
    ['an array', [1], '(arguments)'],
    ['a text', '{"id":"a"}', '(arguments)'],
    ['a number', 5, '(arguments)'],
    ['a function', () => ({ id: 'a' }), '(arguments)'],
    ['inherited ones', Object.create({ id: 'a' }), '(arguments)'],
    ['a Map', new Map([['id', 'a']]), '(arguments)'],
    ['__proto__', JSON.parse('{"id":"a","__proto__":{"limit":5}}'), '__proto__'],
    ['constructor', { id: 'a', constructor: 1 }, 'constructor'],
  ])('%s is rejected, naming the field', async (_, args, field) => {
    expect((await issuesOf(args))?.[0]?.field).toBe(field);
  });

  describe('that are null', () => {
    const input = z.object({
      id: z.string(),
      limit: z.int().optional(),
      lang: z.string().default('en'),
      size: z.coerce.number().optional(),
      note: z.string().nullable().optional(),
      any: z.unknown().optional(),
      box: z.strictObject({ from: z.int(), to: z.int().optional() }).optional(),
      list: z.array(z.strictObject({ n: z.int().optional() })).optional(),
      by: z.union([z.strictObject({ name: z.string().optional() }), z.string()]).optional(),
      tags: z.record(z.string(), z.strictObject({ value: z.string().optional() })).optional(),
    });
    const seen = async (args: unknown) => {
      const middleware = vi.fn((_call: AcceptedCall, next: Next) => next());
      const tool = defineTool({ ...base, input, handler: () => ({ id: 'a', n: 1 }) });
      const { error } = await run(tool, args, { middleware });
      return error ?? middleware.mock.calls[0]?.[0].args;
    };

    it('and optional are absent for middleware and handler', async () => {
      const nothing = {
        limit: null,
        size: null,
        lang: null,
        box: null,
        list: null,
        by: null,
        tags: null,
      };
      expect(await seen({ id: 'a', ...nothing })).toEqual(await seen({ id: 'a' }));
    });

    it('and optional are absent inside objects, arrays, records and unions', async () => {
      const args = (nothing: object) => ({
        id: 'a',
        box: { from: 1, ...nothing },
        list: [{ n: 2 }, {}],
        by: {},
        tags: { x: {} },
      });
      const sent = { ...args({ to: null }), list: [{ n: 2 }, { n: null }], by: { name: null } };
      expect(await seen({ ...sent, tags: { x: { value: null } } })).toEqual(await seen(args({})));
    });

    it('stay if the schema is nullable', async () => {
      const args = { id: 'a', note: null, any: null, limit: null };
      expect(await seen(args)).toEqual({ id: 'a', lang: 'en', note: null, any: null });
    });

    it('are rejected if required, unknown or array elements', async () => {
      const args = {
        id: null,
        limit: null,
        box: { from: null, to: null },
        list: [null],
        what: null,
      };
      const { details } = (await seen(args)) as { details: { issues: { field: string }[] } };
      const fields = details.issues.map(({ field }) => field);
      expect(fields).toEqual(['id', 'box.from', 'list[0]', 'what']);
    });
  });

  it('may be omitted if none is required', async () => {
    const tool = defineTool({ ...base, input: z.object({}), handler: () => ({ id: 'a', n: 1 }) });
    expect((await run(tool, undefined)).success).toBe(true);
  });

  it('are rejected with a helpful message', async () => {
    const envelope = await run(reading, { id: 'x'.repeat(21), colour: 1 });
    expect(envelope.error?.message).toBe(
      'Invalid arguments. id: Too big: expected string to have <=20 characters; ' +
        'colour: unknown argument; known: id, limit',
    );
  });

  it('report the nested path', async () => {
    const input = z.object({ box: z.array(z.number()), at: z.strictObject({ day: z.int() }) });
    const tool = defineTool({ ...base, input, handler: () => ({ id: 'a', n: 1 }) });
    const issues = await issuesOf({ box: [1, 'x'], at: { day: 1, night: 2 } }, tool);
    expect(issues?.map(({ field }) => field)).toEqual(['box[1]', 'at.night']);
  });

  it('report the path in the closest union branch', async () => {
    const input = z.object({ at: z.union([z.string(), z.strictObject({ day: z.int() })]) });
    const tool = defineTool({ ...base, input, handler: () => ({ id: 'a', n: 1 }) });
    expect((await issuesOf({ at: { day: 'x' } }, tool))?.map(({ field }) => field)).toEqual([
      'at.day',
    ]);
  });

  it('do not inflate the answer', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 5000 }, (_, i) => [`k${'x'.repeat(500)}${i}`, i]),
    );
    const { bytes } = await runTool(reading, { id: 'a', ...many });
    expect(bytes).toBeLessThan(8000);
  });

  it('do not inflate the list of issues', async () => {
    const input = z.object({ box: z.array(z.number()) });
    const tool = defineTool({ ...base, input, handler: () => ({ id: 'a', n: 1 }) });
    expect(await issuesOf({ box: Array.from({ length: 500 }, () => 'x') }, tool)).toHaveLength(10);
    const nested = z.object({ box: z.array(z.strictObject({})) });
    const other = defineTool({ ...base, input: nested, handler: () => ({ id: 'a', n: 1 }) });
    const box = Array.from({ length: 20 }, (_, i) => ({ [`k${i}`]: 1 }));
    expect(await issuesOf({ box }, other)).toHaveLength(10);
  });

  const half = '\uD800';
  it.each<[string, object, string]>([
    ['in a text', { a: `x${half}` }, 'a'],
    ['deep inside', { any: [{ b: half }] }, 'any[0].b'],
    ['in a name', { any: { [`n${half}`]: 1 } }, 'any.n\uFFFD'],
  ])('with a lone surrogate %s are rejected, naming the field', async (_, args, field) => {
    const input = z.object({ a: z.string().optional(), any: z.unknown().optional() });
    for (const more of [base, acting]) {
      const tool = defineTool({ ...more, input, handler: () => ({ id: 'a', n: 1 }) });
      expect(await issuesOf(args, tool)).toEqual([{ field, message: 'holds a lone surrogate' }]);
    }
  });

  it('that are not JSON are rejected, also by an open schema', async () => {
    const input = z.object({ any: z.unknown() });
    const tool = defineTool({ ...base, input, handler: () => ({ id: 'a', n: 1 }) });
    expect((await issuesOf({ any: { at: new Date() } }, tool))?.[0]?.field).toBe('any.at');
    expect((await issuesOf({ any: [1n] }, tool))?.[0]?.field).toBe('any[0]');
  });

  it('are reported by name, never by value', async () => {
    const secret = 'sk-live-0123456789';
    const echo = { error: ({ input }: { input?: unknown }) => `not ${JSON.stringify(input)}` };
    const input = z
      .object({
        text: z.string().refine(() => false, echo),
        short: z
          .string()
          .refine(() => false, { error: (issue) => `${String(issue.input)} is bad` }),
        part: z.string().superRefine((value, context) => {
          context.addIssue({ code: 'custom', message: `begins with ${value.slice(0, 12)}` });
        }),
        list: z.array(z.string()).refine(() => false, echo),
        clear: z.string().regex(/^\d+$/, 'must be digits only'),
        kind: z.enum(['a', 'b']),
      })
      .strict();
    const tool = defineTool({ ...base, input, handler: () => ({ id: 'a', n: 1 }) });
    const args = {
      text: secret,
      short: 'hunter2',
      part: secret,
      list: [secret],
      clear: secret,
      kind: secret,
    };
    const { text } = await runTool(tool, args);
    expect(text).not.toContain('sk-live');
    expect(text).not.toContain('hunter2');
    expect(await issuesOf(args, tool)).toEqual([
      { field: 'text', message: 'refused (custom)' },
      { field: 'short', message: 'refused (custom)' },
      { field: 'part', message: 'refused (custom)' },
      { field: 'list', message: 'refused (custom)' },
      { field: 'clear', message: 'must be digits only' },
      { field: 'kind', message: 'Invalid option: expected one of "a"|"b"' },
    ]);
  });

  it("keep the schema's message although it contains a sent word", async () => {
    const input = z.object({ kind: z.enum(['a', 'b']) });
    const tool = defineTool({ ...base, input, handler: () => ({ id: 'a', n: 1 }) });
    expect(await issuesOf({ kind: 'expected' }, tool)).toEqual([
      { field: 'kind', message: 'Invalid option: expected one of "a"|"b"' },
    ]);
  });

  it('that are nested too deeply are rejected', async () => {
    const node: z.ZodType = z.lazy(() => z.strictObject({ next: node.optional() }));
    const tool = defineTool({
      ...base,
      input: z.object({ node }),
      handler: () => ({ id: 'a', n: 1 }),
    });
    const deep: unknown = JSON.parse(`${'{"next":'.repeat(20_000)}{}${'}'.repeat(20_000)}`);
    expect(await issuesOf({ node: deep }, tool)).toEqual([
      { field: '(arguments)', message: 'nested too deeply' },
    ]);
  });

  it('of a mutation that are invalid are not_executed', async () => {
    const envelope = await run(defineTool(acting), {});
    expect(envelope.error).toMatchObject({ code: 'validation_error', outcome: 'not_executed' });
    expect((await run(reading, {})).error).not.toHaveProperty('outcome');
  });
});

import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { defineTool } from '../tool/define.js';
import type { Tool } from '../tool/tool.js';
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
  ])('%s is refused, naming the field', async (_, args, field) => {
    expect((await issuesOf(args))?.[0]?.field).toBe(field);
  });

  it('may be left out where none is needed', async () => {
    const tool = defineTool({ ...base, input: z.object({}), handler: () => ({ id: 'a', n: 1 }) });
    expect((await run(tool, undefined)).success).toBe(true);
  });

  it('are refused with a message that helps to correct them', async () => {
    const envelope = await run(reading, { id: 'x'.repeat(21), colour: 1 });
    expect(envelope.error?.message).toBe(
      'The arguments were refused. id: Too big: expected string to have <=20 characters; ' +
        'colour: unknown argument; known: id, limit',
    );
  });

  it('name the place inside', async () => {
    const input = z.object({ box: z.array(z.number()), at: z.strictObject({ day: z.int() }) });
    const tool = defineTool({ ...base, input, handler: () => ({ id: 'a', n: 1 }) });
    const issues = await issuesOf({ box: [1, 'x'], at: { day: 1, night: 2 } }, tool);
    expect(issues?.map(({ field }) => field)).toEqual(['box[1]', 'at.night']);
  });

  it('name the place inside the alternative that was meant', async () => {
    const input = z.object({ at: z.union([z.string(), z.strictObject({ day: z.int() })]) });
    const tool = defineTool({ ...base, input, handler: () => ({ id: 'a', n: 1 }) });
    expect((await issuesOf({ at: { day: 'x' } }, tool))?.map(({ field }) => field)).toEqual([
      'at.day',
    ]);
  });

  it('do not make the answer grow with what was sent', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 5000 }, (_, i) => [`k${'x'.repeat(500)}${i}`, i]),
    );
    const { bytes } = await runTool(reading, { id: 'a', ...many });
    expect(bytes).toBeLessThan(8000);
  });

  it('that are nested without end are refused', async () => {
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

  it('of a mutation that are refused were not executed', async () => {
    const envelope = await run(defineTool(acting), {});
    expect(envelope.error).toMatchObject({ code: 'validation_error', outcome: 'not_executed' });
    expect((await run(reading, {})).error).not.toHaveProperty('outcome');
  });
});

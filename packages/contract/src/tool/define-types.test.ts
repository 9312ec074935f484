import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import { defineTool } from './define.js';
import { answer, page, toolError } from './result.js';
import type { Tool, ToolSpec } from './tool.js';

const reading = {
  name: 'get_item',
  title: 'Get an item',
  description: 'Reads one item.',
  category: 'read',
  effect: 'read',
  profiles: ['readonly', 'api', 'workflow'],
  input: z.object({
    id: z.string(),
    page_token: z.string().optional(),
    limit: z.int().default(10),
  }),
  output: z.object({ items: z.array(z.string()) }),
  errors: ['not_found'],
  handler: () => ({ items: [] }),
} as const;
const paging = {
  token: 'page_token',
  cursor: z.object({ at: z.int() }),
  items: 'items',
} as const;

// What the compiler refuses here would only fail when it runs: hence the expectations that it is
// accepted at run time, and the comments that it is not before.
describe('types', () => {
  it('flow from the schemas into the handler', () => {
    const tool = defineTool({
      ...reading,
      handler: (args, context) => {
        expectTypeOf(args).toEqualTypeOf<{
          id: string;
          page_token?: string | undefined;
          limit: number;
        }>();
        expectTypeOf(context.cursor).toEqualTypeOf<undefined>();
        return { items: [args.id] };
      },
    });
    expectTypeOf(tool).toExtend<Tool>();
    expectTypeOf(tool).toExtend<ToolSpec>();
  });

  it('flow from the cursor into context and page', () => {
    defineTool({
      ...reading,
      paging,
      handler: (_, { cursor }) => {
        expectTypeOf(cursor).toEqualTypeOf<{ at: number } | undefined>();
        return page({ items: ['a'] }, { next: { at: 1 }, after: (kept) => ({ at: kept }) });
      },
    });
    const foreign = () => page({ items: ['a'] }, { next: 'x' });
    // @ts-expect-error -- not the cursor of this tool
    expect(defineTool({ ...reading, paging, handler: foreign })).toBeDefined();
  });

  it('refuse data that is not of the output', () => {
    const tools = [
      // @ts-expect-error -- items are strings
      defineTool({ ...reading, handler: () => ({ items: [1] }) }),
      // @ts-expect-error -- also with meta
      defineTool({ ...reading, handler: () => answer({ items: [1] }) }),
      // @ts-expect-error -- also later
      defineTool({ ...reading, handler: () => Promise.resolve({}) }),
      defineTool({ ...reading, handler: () => Promise.resolve(answer({ items: ['1'] })) }),
    ];
    expect(tools).toHaveLength(4);
  });

  it('let a handler answer with declared and shared codes only', () => {
    const tools = [
      defineTool({ ...reading, handler: () => toolError('not_found', 'x') }),
      defineTool({ ...reading, handler: () => toolError('cancelled', 'x') }),
      // @ts-expect-error -- not declared
      defineTool({ ...reading, handler: () => toolError('forbidden', 'x') }),
      // @ts-expect-error -- nothing is declared at all
      defineTool({ ...reading, errors: [], handler: () => toolError('not_found', 'x') }),
      // @ts-expect-error -- faultToError is held to the same
      defineTool({ ...reading, faultToError: () => toolError('forbidden', 'x') }),
    ];
    expect(tools).toHaveLength(5);
  });

  it('let only a tool with partial answer in part', () => {
    const handler = () => toolError('not_found', 'x', { data: { done: 1 } });
    const tools = [
      // @ts-expect-error -- it does not declare partial
      defineTool({ ...reading, handler }),
      defineTool({ ...reading, partial: z.object({ done: z.int() }), handler }),
      // @ts-expect-error -- not that part
      defineTool({ ...reading, partial: z.object({ done: z.string() }), handler }),
    ];
    expect(tools).toHaveLength(3);
  });

  it('refuse retryable, foreign outcomes and foreign details in a tool error', () => {
    // @ts-expect-error -- retryable follows from the code
    expect(toolError('not_found', 'x', { retryable: true }).input).not.toHaveProperty('retryable');
    // @ts-expect-error -- a refused argument was not executed
    expect(() => toolError('validation_error', 'x', { outcome: 'executed' })).toThrow();
    // @ts-expect-error -- details of another code
    expect(() => toolError('not_found', 'x', { details: { clock: 'idle' } })).toThrow();
  });

  it('know the arguments in sensitive', () => {
    expect(defineTool({ ...reading, sensitive: ['id'] }).sensitive).toEqual(['id']);
    // @ts-expect-error -- no such argument
    expect(() => defineTool({ ...reading, sensitive: ['password'] })).toThrow();
  });
});

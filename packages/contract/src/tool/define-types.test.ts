import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import { defineTool, implementTool, specifyTool } from './define.js';
import { reading } from './define.fixture.js';
import { registerCodes } from '../codes/registry.js';
import { answer, page, toolError } from './result.js';
import type { Tool, ToolSpec } from './tool.js';

const some = { items: ['a'] };
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
    const cursor = z.discriminatedUnion('by', [
      z.object({ by: z.literal('page'), n: z.int() }),
      z.object({ by: z.literal('item'), ids: z.array(z.string()) }),
    ]);
    defineTool({
      ...reading,
      paging: { ...paging, cursor },
      handler: () =>
        page(some, { next: { by: 'page', n: 2 }, after: () => ({ by: 'item', ids: ['a'] }) }),
    });
    defineTool({
      ...reading,
      paging: { ...paging, cursor },
      handler: async ({ id }) => {
        if (id === '') return toolError('not_found', 'x');
        await Promise.resolve();
        return page(
          { items: ['a'] },
          { next: { by: 'page', n: 2 }, after: (kept) => ({ by: 'item', ids: [String(kept)] }) },
        );
      },
    });
    // @ts-expect-error -- not the cursor of this tool
    const foreign = defineTool({ ...reading, paging, handler: () => page(some, { next: 'x' }) });
    // @ts-expect-error -- a tool that does not page has no cursors
    const stray = defineTool({ ...reading, handler: () => page(some, { next: 'x' }) });
    expect([foreign, stray]).toHaveLength(2);
  });

  it('accept constants for literals of a schema', () => {
    const output = z.object({
      kind: z.literal(['a', 'b']),
      items: z.array(z.strictObject({ size: z.enum(['s', 'l']) })),
    });
    const { handler: _, ...traits } = { ...reading, output };
    const spec = specifyTool({ ...traits, paging });
    const tools = [
      defineTool({ ...traits, handler: () => ({ kind: 'a', items: [{ size: 's' }] }) }),
      defineTool({ ...traits, handler: () => answer({ kind: 'a', items: [{ size: 's' }] }) }),
      defineTool({
        ...traits,
        handler: async ({ id }) => {
          await Promise.resolve();
          if (id === '') return toolError('not_found', 'x');
          return { kind: 'a', items: [{ size: 's' }] };
        },
      }),
      implementTool(spec, {
        handler: () => page({ kind: 'a', items: [{ size: 's' }] }, { next: { at: 1 } }),
      }),
      // @ts-expect-error -- no such size
      defineTool({ ...traits, handler: () => ({ kind: 'a', items: [{ size: 'xl' }] }) }),
      // @ts-expect-error -- no such kind
      implementTool(spec, { handler: () => page({ kind: 'c', items: [] }, {}) }),
    ];
    expect(tools).toHaveLength(6);
  });

  it('reject data that does not match the output', () => {
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

  it('allow declared and shared codes only', () => {
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

  it('allow registered codes, and find a typo where the codes are declared', () => {
    const { handler: _, errors: __, ...open } = reading;
    const codes = registerCodes('typed', {
      typed_locked: { retryable: false, description: 'It is locked', outcome: 'not_executed' },
    });
    const closed = { ...open, errors: ['typed_locked', 'not_found'] } as const;
    const tools = [
      defineTool({ ...closed, handler: () => toolError('typed_locked', 'x') }),
      defineTool({ ...closed, handler: () => toolError(codes.typed_locked, 'x') }),
      defineTool({ ...open, errors: Object.values(codes), handler: () => ({ items: [] }) }),
      // @ts-expect-error -- a typo
      defineTool({ ...closed, handler: () => toolError('typed_lokced', 'x') }),
      // @ts-expect-error -- registered, but not declared
      defineTool({ ...reading, handler: () => toolError('typed_locked', 'x') }),
      // Without `errors` any code may be returned; an unregistered one is found when it is created.
      defineTool({ ...open, handler: () => toolError('typed_locked', 'x') }),
      // @ts-expect-error -- no such registered code
      defineTool({ ...open, handler: () => toolError(codes.typed_lokced ?? 'not_found', 'x') }),
    ];
    expect(tools).toHaveLength(7);
    expectTypeOf(codes).toEqualTypeOf<{ readonly typed_locked: 'typed_locked' }>();
  });

  it('allow any object without an output schema', () => {
    interface Ticket {
      readonly id: number;
    }
    const { handler: _, output: __, ...open } = reading;
    const ticket: Ticket = { id: 7 };
    const tools = [
      defineTool({ ...open, handler: () => ticket }),
      defineTool({ ...open, handler: async () => answer({ tickets: [ticket] }) }),
      // @ts-expect-error -- not an object
      defineTool({ ...open, handler: () => 'closed' }),
      // @ts-expect-error -- nor this
      defineTool({ ...open, handler: () => undefined }),
    ];
    expect(tools).toHaveLength(4);
  });

  it('allow partial data only with partial', () => {
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

  it('reject retryable, other outcomes and other details in a tool error', () => {
    // @ts-expect-error -- retryable follows from the code
    expect(toolError('not_found', 'x', { retryable: true }).input).not.toHaveProperty('retryable');
    // @ts-expect-error -- a refused argument was not executed
    expect(() => toolError('validation_error', 'x', { outcome: 'executed' })).toThrow();
    // @ts-expect-error -- details of another code
    expect(() => toolError('not_found', 'x', { details: { clock: 'idle' } })).toThrow();
  });

  it('check the names in sensitive', () => {
    expect(defineTool({ ...reading, sensitive: ['id'] }).sensitive).toEqual(['id']);
    // @ts-expect-error -- no such argument
    expect(() => defineTool({ ...reading, sensitive: ['password'] })).toThrow();
  });
});

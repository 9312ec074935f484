import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { containing } from '../matchers.fixture.js';
import { runTool } from './run-tool.js';
import { acting, base, run, toolWith } from './run.fixture.js';

describe('an answer that is not what the tool promised', () => {
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
    ['Infinity', { v: { w: Number.POSITIVE_INFINITY } }, open, 'data.v.w'],
    ['NaN where a number is due', { id: 'a', n: Number.NaN }, base.output, 'data.n'],
    ['undefined in a list', { v: [undefined] }, open, 'data.v[0]'],
    ['a Date', { v: new Date() }, open, 'data.v'],
    ['a Map', { v: new Map() }, open, 'data.v'],
    ['a function', { v: () => 1 }, open, 'data.v'],
    ['something with toJSON', { v: { toJSON: () => 'x' } }, open, 'data.v.toJSON'],
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

  it('does not call a mutation undone', async () => {
    const { error } = await run(
      toolWith(() => ({}), acting),
      { id: 'a' },
    );
    expect(error).toMatchObject({ code: 'serialization_error', outcome: 'executed' });
  });

  it('does not call a mutation undone either when its data cannot even be read', async () => {
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

  it('leaves out members that are undefined, as JSON does', async () => {
    const tool = toolWith(() => ({ v: { a: undefined, b: 1 } }), { output: open });
    const { envelope, text } = await runTool(tool, { id: 'a' });
    expect(envelope.success).toBe(true);
    expect(text).toContain('"data":{"v":{"b":1}}');
  });
});

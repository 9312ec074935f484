import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { some } from '../matchers.fixture.js';
import { acceptControls, idempotencyKeySchema, splitControls } from './controls.js';
import { defineTool, specifyTool } from './define.js';
import { renderKey, templateArguments } from '../content-hash.js';

const tool = defineTool({
  name: 'post_item',
  title: 'Post',
  description: 'Posts.',
  category: 'write',
  effect: 'once',
  profiles: ['api', 'workflow'],
  input: z.object({ text: z.string() }).refine(({ text }) => text !== 'bad'),
  output: z.object({ id: z.string() }),
  errors: [],
  handler: () => ({ id: '1' }),
});

describe('an idempotency key', () => {
  it.each(['a'.repeat(16), 'A'.repeat(255), 'order:2026-01-01_a.B:9'])('%s is one', (key) => {
    expect(idempotencyKeySchema.safeParse(key).success).toBe(true);
  });

  it.each([
    'a'.repeat(15),
    'a'.repeat(256),
    `${'a'.repeat(20)} `,
    `${'a'.repeat(20)}\n`,
    'ä'.repeat(20),
    1e20,
  ])('%j is invalid', (key) => {
    expect(idempotencyKeySchema.safeParse(key).success).toBe(false);
  });
});

describe('acceptControls', () => {
  const controlled = acceptControls(tool);

  it('adds the control arguments to a mutation', () => {
    expect(controlled.inputSchema).toMatchObject({
      required: ['text'],
      additionalProperties: false,
      properties: {
        text: {},
        idempotency_key: { type: 'string', description: some(String) },
        allow_duplicate: { type: 'boolean' },
      },
    });
    expect(tool.inputSchema).not.toHaveProperty('properties.idempotency_key');
  });

  it('stays strict and keeps refinements', () => {
    const key = 'k'.repeat(16);
    expect(controlled.input.safeParse({ text: 'a', idempotency_key: key }).success).toBe(true);
    expect(controlled.input.safeParse({ text: 'a', other: 1 }).success).toBe(false);
    expect(controlled.input.safeParse({ text: 'bad', idempotency_key: key }).success).toBe(false);
    expect(controlled.input.safeParse({ text: 'a', idempotency_key: 'short' }).success).toBe(false);
  });

  it('returns reads and extended tools unchanged', () => {
    expect(acceptControls(controlled)).toBe(controlled);
    const reading = { ...tool, effect: 'read', mutation: false } as const;
    expect(acceptControls(reading)).toBe(reading);
  });

  it('extends a description like a tool', () => {
    const liking = {
      name: 'unlike_item',
      title: 'Unlike',
      description: 'Takes a like back.',
      category: 'engage',
      effect: 'idempotent',
      profiles: ['api', 'workflow'],
      input: z.object({ id: z.string() }),
      output: z.object({}),
      errors: [],
    } as const;
    const described = acceptControls(specifyTool(liking));
    const implemented = acceptControls(
      defineTool({ ...liking, inverse: { of: 'like_item' }, handler: () => ({}) }),
    );
    expect(described.inputSchema).toEqual(implemented.inputSchema);
    expect(described.inputSchema).toHaveProperty('properties.idempotency_key');
  });

  it('are removed before the handler', () => {
    expect(splitControls({ text: 'a', idempotency_key: 'k', allow_duplicate: true })).toEqual({
      args: { text: 'a' },
      controls: { idempotencyKey: 'k', allowDuplicate: true },
    });
    expect(splitControls({ text: 'a' })).toEqual({
      args: { text: 'a' },
      controls: { allowDuplicate: false },
    });
  });
});

describe('a key template', () => {
  it('names its arguments', () => {
    expect(templateArguments('refund:{payment_id}:{part}')).toEqual(['payment_id', 'part']);
    expect(templateArguments('refund')).toEqual([]);
  });

  it('inserts values', () => {
    expect(renderKey('refund:{payment_id}', { payment_id: 'p-1', text: 'x' })).toBe('refund:p-1');
    expect(renderKey('a:{n}:{list}', { n: 1, list: ['x', 2] })).toBe('a:1:%5B%22x%22%2C2%5D');
  });

  it('is unambiguous', () => {
    expect(renderKey('{a}:{b}', { a: 'x:y', b: 'z' })).not.toBe(
      renderKey('{a}:{b}', { a: 'x', b: 'y:z' }),
    );
  });

  it('is undefined if an argument is missing', () => {
    for (const args of [{}, { id: null }, { id: undefined }])
      expect(renderKey('a:{id}', args)).toBeUndefined();
    expect(renderKey('a:{toString}', {})).toBeUndefined();
  });

  it('rejects values that JSON cannot represent', () => {
    expect(() => renderKey('a:{id}', { id: '\ud800' })).toThrow('lone surrogate');
  });
});

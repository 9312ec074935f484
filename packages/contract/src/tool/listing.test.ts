import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { errorEnvelope, successEnvelope } from '../envelope/envelope.js';
import { meta, workflow } from '../envelope/meta.fixture.js';
import { acceptControls } from './controls.js';
import { specifyTool } from './define.js';
import { listTool, outputJsonSchema } from './listing.js';
import type { Schema } from './schema.js';

const traits = {
  name: 'get_item',
  description: 'D',
  effect: 'read',
  input: z.object({}),
  output: z.object({ n: z.int() }),
  errors: ['not_found'],
} as const;
const accepts = (schema: unknown, value: unknown): boolean =>
  z
    .fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0])
    .safeParse(JSON.parse(JSON.stringify(value))).success;
const notFound = { code: 'not_found', message: 'x' } as const;

describe('the output schema of a tool', () => {
  const schema = outputJsonSchema(specifyTool(traits));
  const success = successEnvelope({ n: 1 }, meta);
  const failure = errorEnvelope(notFound, meta);

  it('is an object with a oneOf, as old clients require', () => {
    expect(schema).toMatchObject({ type: 'object', required: ['success', 'data', 'meta'] });
    expect(schema['oneOf']).toHaveLength(2);
    expect(schema).not.toHaveProperty('$schema');
  });

  it('accepts success and error in every profile', () => {
    expect(accepts(schema, success)).toBe(true);
    expect(accepts(schema, failure)).toBe(true);
    expect(accepts(schema, successEnvelope({ n: 1 }, workflow))).toBe(true);
    expect(accepts(schema, errorEnvelope(notFound, workflow))).toBe(true);
  });

  it.each<[string, unknown]>([
    ['data of another shape', { ...success, data: { n: 'x' } }],
    ['a failure without an error', { success: false, data: null, meta: success.meta }],
    ['a failure with data', { ...failure, data: { n: 1 } }],
    ['a code that is no string', { ...failure, error: { ...failure.error, code: 404 } }],
    ['no meta', { success: true, data: { n: 1 } }],
  ])('rejects %s', (_, envelope) => {
    expect(accepts(schema, envelope)).toBe(false);
  });

  it('allows any data on failure if the tool declares a part', () => {
    const partial = outputJsonSchema(specifyTool({ ...traits, partial: z.object({ a: z.int() }) }));
    expect(accepts(partial, errorEnvelope(notFound, meta, { a: 1 }))).toBe(true);
    expect(accepts(partial, errorEnvelope(notFound, meta))).toBe(true);
  });

  const tree: z.ZodType = z.lazy(() => z.strictObject({ children: z.array(tree) }));
  const item = z.strictObject({ id: z.string().describe('The id.'), tags: z.array(z.string()) });
  it.each<[string, Schema, readonly unknown[], object]>([
    [
      'members',
      z.strictObject({ items: z.array(item), first: item.nullable(), note: z.string().optional() }),
      [
        { items: [{ id: 'a', tags: ['b'] }], first: null },
        { items: [], first: { id: 'a', tags: [] }, note: 'x' },
      ],
      {
        type: 'object',
        properties: {
          items: { type: 'array', items: { type: 'object' } },
          first: { type: ['object', 'null'] },
          note: { type: 'string' },
        },
      },
    ],
    ['any object', z.looseObject({}), [{}, { a: [1] }], { type: 'object', properties: {} }],
    ['anything', z.unknown(), [null, 1, 'x', {}, []], {}],
    ['a list', z.array(z.union([z.string(), z.int()])), [[], ['a', 1]], { type: 'array' }],
    ['a tuple', z.tuple([z.string(), z.int()]), [['a', 1]], { type: 'array' }],
    ['a text', z.enum(['a', 'b']), ['a'], { type: 'string' }],
    [
      'a union',
      z.union([z.string(), z.null(), z.int()]),
      ['a', null, 1],
      { type: ['string', 'null', 'integer'] },
    ],
    [
      'a tagged union',
      z.discriminatedUnion('by', [
        z.object({ by: z.literal('a'), n: z.int() }),
        z.object({ by: z.literal('b') }),
      ]),
      [{ by: 'a', n: 1 }, { by: 'b' }],
      { type: 'object' },
    ],
    [
      'an intersection',
      z.intersection(z.object({ a: z.int() }), z.object({ b: z.int() })),
      [{ a: 1, b: 2 }],
      {
        type: 'object',
        properties: { a: { type: 'integer' }, b: { type: 'integer' } },
      },
    ],
    [
      'recursion',
      tree,
      [{ children: [{ children: [] }] }],
      { type: 'object', properties: { children: { type: 'array' } } },
    ],
    ['a record', z.record(z.string(), item), [{ a: { id: 'a', tags: [] } }], { type: 'object' }],
  ])('outlines %s and accepts what the tool returns', (_, output, values, listed) => {
    const outlined = outputJsonSchema(specifyTool({ ...traits, output }));
    expect(outlined).toHaveProperty('oneOf.0.properties.data', listed);
    for (const value of values) {
      expect(output.safeParse(value).success).toBe(true);
      expect(accepts(outlined, successEnvelope(value, meta))).toBe(true);
    }
  });
});

describe('the listing of a tool', () => {
  it('says nothing twice', () => {
    const listed = listTool(specifyTool(traits));
    expect(Object.keys(listed)).toEqual([
      'name',
      'title',
      'description',
      'inputSchema',
      'outputSchema',
      'annotations',
    ]);
    expect(JSON.stringify(listed)).not.toContain('not_found');
    expect(JSON.stringify(listed).match(/Get item/g)).toHaveLength(1);
  });

  it('lists arguments without limits that a model does not meet', () => {
    const input = z.object({
      id: z.string().min(1).max(512),
      code: z.string().min(2).max(8),
      ids: z.array(z.string().min(1)).max(500),
      few: z.array(z.int()).max(4),
      any: z.record(z.string(), z.unknown()),
      box: z.looseObject({ type: z.string().min(1) }),
      strict: z.strictObject({ a: z.int() }),
      either: z.union([z.string().max(2000), z.array(z.string().max(2000))]),
    });
    const { inputSchema } = listTool(specifyTool({ ...traits, input }));
    expect(inputSchema).toMatchObject({ additionalProperties: false });
    expect(inputSchema['properties']).toEqual({
      id: { type: 'string' },
      code: { type: 'string', minLength: 2, maxLength: 8 },
      ids: { type: 'array', items: { type: 'string' } },
      few: { type: 'array', items: { type: 'integer' }, maxItems: 4 },
      any: { type: 'object' },
      box: { type: 'object', properties: { type: { type: 'string' } }, required: ['type'] },
      strict: {
        type: 'object',
        properties: { a: { type: 'integer' } },
        required: ['a'],
        additionalProperties: false,
      },
      either: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
    });
  });

  it('keeps arguments that have the name of a keyword', () => {
    const input = z.object({ maxLength: z.int(), minLength: z.int().default(1), items: z.int() });
    const { inputSchema } = listTool(specifyTool({ ...traits, input }));
    expect(inputSchema['properties']).toEqual({
      maxLength: { type: 'integer' },
      minLength: { type: 'integer', default: 1 },
      items: { type: 'integer' },
    });
  });

  it('shows one form of an argument where its schema says so', () => {
    const sort = z
      .union([z.string(), z.array(z.strictObject({ field: z.string() }))])
      .meta({ listed: { type: 'string' } })
      .optional()
      .describe('For example -created.');
    const spec = specifyTool({ ...traits, input: z.object({ sort }) });
    expect(listTool(spec).inputSchema['properties']).toEqual({
      sort: { description: 'For example -created.', type: 'string' },
    });
    expect(spec.input.safeParse({ sort: [{ field: 'a' }] }).success).toBe(true);
    expect(spec.inputSchema).toHaveProperty('properties.sort.anyOf');
  });

  it('adds the control arguments in a short form, and the run keeps its rule', () => {
    const mutation = specifyTool({ ...traits, effect: 'once' });
    const { input, inputSchema } = acceptControls(mutation);
    expect(inputSchema['properties']).toEqual({
      idempotency_key: {
        type: 'string',
        minLength: 16,
        description: 'A repeat returns the first result.',
      },
      allow_duplicate: { type: 'boolean' },
    });
    expect(input.safeParse({ idempotency_key: 'sixteen letters!' }).success).toBe(false);
    expect(input.safeParse({ idempotency_key: 'sixteen-letters.' }).success).toBe(true);
  });
});

import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ownMember } from '../own-member.js';
import { specifyTool } from '../tool/define.js';
import { errorEnvelope, successEnvelope } from './envelope.js';
import { outputJsonSchema } from './json-schema.js';
import { meta, workflow } from './meta.fixture.js';

const traits = {
  name: 'get_item',
  title: 'T',
  description: 'D',
  category: 'read',
  effect: 'read',
  profiles: ['readonly', 'api', 'workflow'],
  input: z.object({}),
  output: z.object({ n: z.int() }),
  errors: ['not_found'],
} as const;
const spec = specifyTool(traits);
const accepts = (schema: unknown, value: unknown): boolean =>
  z
    .fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0])
    .safeParse(JSON.parse(JSON.stringify(value))).success;

describe('the output schema of a tool', () => {
  const schema = outputJsonSchema(spec, 'api');
  const success = successEnvelope({ n: 1 }, meta);
  const failure = errorEnvelope({ code: 'not_found', message: 'x' }, meta);

  it('is an object with two shapes, as old clients need it', () => {
    expect(schema).toMatchObject({ type: 'object', required: ['success', 'data', 'meta'] });
    expect(schema['oneOf']).toHaveLength(2);
    expect(schema).not.toHaveProperty('$schema');
  });

  it('accepts both answers', () => {
    expect(accepts(schema, success)).toBe(true);
    expect(accepts(schema, failure)).toBe(true);
  });

  it.each<[string, unknown]>([
    ['data of another shape', { ...success, data: { n: 'x' } }],
    ['a success without data', { success: true, meta: success.meta }],
    ['a success with an error', { ...success, error: failure.error }],
    ['a failure without an error', { success: false, data: null, meta: success.meta }],
    ['a failure with data', { ...failure, data: { n: 1 } }],
    [
      'a code that the tool does not have',
      { ...failure, error: { ...failure.error, code: 'forbidden' } },
    ],
    ['a mode in api', { ...success, meta: successEnvelope(1, workflow).meta }],
    ['no meta', { success: true, data: { n: 1 } }],
  ])('refuses %s', (_, envelope) => {
    expect(accepts(schema, envelope)).toBe(false);
  });

  it('demands the mode in workflow', () => {
    const inWorkflow = outputJsonSchema(spec, 'workflow');
    expect(accepts(inWorkflow, successEnvelope({ n: 1 }, workflow))).toBe(true);
    expect(accepts(inWorkflow, success)).toBe(false);
  });

  it('lets a failure carry the part that the tool declares, or none', () => {
    const partial = outputJsonSchema(
      specifyTool({ ...traits, partial: z.object({ done: z.int() }) }),
      'api',
    );
    const error = { code: 'not_found', message: 'x' } as const;
    expect(accepts(partial, errorEnvelope(error, meta, { done: 1 }))).toBe(true);
    expect(accepts(partial, errorEnvelope(error, meta))).toBe(true);
    expect(accepts(partial, errorEnvelope(error, meta, { done: 'x' }))).toBe(false);
  });

  it('keeps references whole when data and part refer to themselves', () => {
    const tree: z.ZodType = z.lazy(() => z.strictObject({ children: z.array(tree) }));
    const list: z.ZodType = z.lazy(() => z.strictObject({ next: list.optional() }));
    const traitsWithRefs = { ...traits, output: tree, partial: z.object({ list }) };
    const recursive = outputJsonSchema(specifyTool(traitsWithRefs), 'api');
    const refs = [...JSON.stringify(recursive).matchAll(/"\$ref":"#\/([^"]+)"/g)];
    expect(refs.length).toBeGreaterThan(3);
    for (const [, path = ''] of refs) {
      expect(path.split('/').reduce<unknown>(ownMember, recursive)).toMatchObject({
        type: 'object',
      });
    }
    expect(JSON.stringify(recursive)).not.toContain('"$ref":"#"');
  });

  it('follows them', () => {
    const tree: z.ZodType = z.lazy(() => z.strictObject({ children: z.array(tree) }));
    const recursive = outputJsonSchema(specifyTool({ ...traits, output: tree }), 'api');
    expect(accepts(recursive, successEnvelope({ children: [{ children: [] }] }, meta))).toBe(true);
    expect(accepts(recursive, successEnvelope({ children: [{ child: [] }] }, meta))).toBe(false);
  });

  it('stays small: a listing holds many of them', () => {
    expect(JSON.stringify(schema).length).toBeLessThan(2350);
  });
});

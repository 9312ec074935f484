import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codes, errorCodes, onlyOutcomeOf } from '../codes/table.js';
import { errorEnvelope, successEnvelope } from './envelope.js';
import { InconsistentErrorError, type ErrorInput } from './error.js';
import { meta, workflow } from './meta.fixture.js';
import { paginationInfo } from './meta.js';
import { envelopeSchema, outputJsonSchema } from './schema.js';
import * as z from 'zod';
import { ownMember } from '../json.js';
import { specifyTool } from '../tool/define.js';

describe('the schema', () => {
  const error = fc.record(
    {
      code: fc.constantFrom(...errorCodes),
      message: fc.string({ minLength: 1 }).filter((text) => text.trim() !== ''),
      retryAfterMs: fc.double({ min: 0, max: 1e9, noNaN: true }),
      rateLimitReset: fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }),
      operationId: fc.string(),
      outcome: fc.constantFrom('executed', 'not_executed', 'unknown'),
    },
    { requiredKeys: ['code', 'message'] },
  );
  const metas = fc.record({
    toolVersion: fc.constant('1.0'),
    elapsedMs: fc.double(),
    retryCount: fc.nat(),
    correlationId: fc.uuid(),
    profile: fc.constantFrom(meta.profile, workflow.profile),
    pagination: fc.option(
      fc
        .tuple(fc.nat(), fc.option(fc.string({ minLength: 1 }), { nil: undefined }))
        .map((pair) => paginationInfo(...pair)),
      { nil: undefined },
    ),
  });

  it('accepts the output of the constructors', () => {
    fc.assert(
      fc.property(error, metas, fc.jsonValue(), ({ outcome, ...rest }, input, data) => {
        const only = onlyOutcomeOf(rest.code);
        const fitting = { ...rest, outcome: only ?? outcome } as ErrorInput;
        const text = JSON.stringify([errorEnvelope(fitting, input), successEnvelope(data, input)]);
        for (const envelope of JSON.parse(text) as unknown[]) {
          expect(envelopeSchema.safeParse(envelope).error).toBeUndefined();
        }
      }),
    );
  });

  it('agrees with the constructors on outcomes per code', () => {
    fc.assert(
      fc.property(error, (input) => {
        const allowed = [undefined, onlyOutcomeOf(input.code) ?? input.outcome];
        const make = () => errorEnvelope(input as ErrorInput, meta);
        if (allowed.includes(input.outcome)) expect(make).not.toThrow();
        else expect(make).toThrow(InconsistentErrorError);
      }),
    );
  });

  const failure = errorEnvelope({ code: 'not_found', message: 'x' }, meta);
  const blocked = errorEnvelope({ code: 'policy_denied_blocked', message: 'x' }, meta);
  const unknown = errorEnvelope({ code: 'outcome_unknown', message: 'x' }, meta);
  const success = successEnvelope(1, meta);
  const { outcome: _gone, ...withoutOutcome } = unknown.error;
  const { mode: _mode, ...halfMeta } = successEnvelope(1, workflow).meta;
  it.each<[string, unknown]>([
    ['an error beside success', { ...success, error: failure.error }],
    ['a failure without error', { success: false, data: null, meta: failure.meta }],
    ['a success without data', { success: true, meta: success.meta }],
    ['an envelope without meta', { success: true, data: 1 }],
    ['a flag that the code denies', { ...failure, error: { ...failure.error, retryable: true } }],
    ['a stray decision', { ...failure, error: { ...failure.error, policy_decision: 'denied' } }],
    ['a missing decision', { ...blocked, error: { ...blocked.error, policy_decision: undefined } }],
    ['an executed denial', { ...blocked, error: { ...blocked.error, outcome: 'executed' } }],
    ['outcome_unknown that does not say so', { ...unknown, error: withoutOutcome }],
    ['foreign details', { ...failure, error: { ...failure.error, details: { clock: 'x' } } }],
    ['half a workflow', { ...success, meta: halfMeta }],
    [
      'has_more without a token',
      { ...success, meta: { ...success.meta, pagination: { result_count: 1, has_more: true } } },
    ],
    [
      'a token without has_more',
      {
        ...success,
        meta: {
          ...success.meta,
          pagination: { next_token: 't', result_count: 1, has_more: false },
        },
      },
    ],
    ['an unknown field', { ...success, extra: 1 }],
    ['an unknown code', { ...failure, error: { ...failure.error, code: 'nope' } }],
  ])('rejects %s', (_, envelope) => {
    expect(envelopeSchema.safeParse(envelope).success).toBe(false);
  });

  it('rejects an inverted retryable flag', () => {
    for (const code of errorCodes) {
      const envelope = errorEnvelope({ code, message: 'x' }, meta);
      const turned = {
        ...envelope,
        error: { ...envelope.error, retryable: !codes[code].retryable },
      };
      expect(envelopeSchema.safeParse(envelope).success).toBe(true);
      expect(envelopeSchema.safeParse(turned).success).toBe(false);
    }
  });
});

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

  it('is an object with a oneOf, as old clients require', () => {
    expect(schema).toMatchObject({ type: 'object', required: ['success', 'data', 'meta'] });
    expect(schema['oneOf']).toHaveLength(2);
    expect(schema).not.toHaveProperty('$schema');
  });

  it('accepts success and error', () => {
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
  ])('rejects %s', (_, envelope) => {
    expect(accepts(schema, envelope)).toBe(false);
  });

  it('requires the mode in workflow', () => {
    const inWorkflow = outputJsonSchema(spec, 'workflow');
    expect(accepts(inWorkflow, successEnvelope({ n: 1 }, workflow))).toBe(true);
    expect(accepts(inWorkflow, success)).toBe(false);
  });

  it('allows partial data only as declared', () => {
    const partial = outputJsonSchema(
      specifyTool({ ...traits, partial: z.object({ done: z.int() }) }),
      'api',
    );
    const error = { code: 'not_found', message: 'x' } as const;
    expect(accepts(partial, errorEnvelope(error, meta, { done: 1 }))).toBe(true);
    expect(accepts(partial, errorEnvelope(error, meta))).toBe(true);
    expect(accepts(partial, errorEnvelope(error, meta, { done: 'x' }))).toBe(false);
  });

  it('rewrites internal references of data and partial', () => {
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

  it('resolves references', () => {
    const tree: z.ZodType = z.lazy(() => z.strictObject({ children: z.array(tree) }));
    const recursive = outputJsonSchema(specifyTool({ ...traits, output: tree }), 'api');
    expect(accepts(recursive, successEnvelope({ children: [{ children: [] }] }, meta))).toBe(true);
    expect(accepts(recursive, successEnvelope({ children: [{ child: [] }] }, meta))).toBe(false);
  });

  it('is small', () => {
    expect(JSON.stringify(schema).length).toBeLessThan(2350);
  });
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { errorCodes } from '../codes/table.js';
import { envelopeSchema } from '../envelope/schema.js';
import { defineTool } from '../tool/define.js';
import { outputJsonSchema } from '../tool/listing.js';
import { answer, page, toolError } from '../tool/result.js';
import type { RunOptions } from './options.js';
import { runTool } from './run-tool.js';

type Effect = 'read' | 'idempotent' | 'once';

let behave: () => unknown = () => ({});

const define = (effect: Effect) =>
  defineTool({
    name: 'fuzzed',
    title: 'F',
    description: 'F',
    category: 'read',
    effect,
    profiles: ['api', 'workflow'],
    input: z.object({
      a: z.string().optional(),
      b: z
        .array(z.union([z.int(), z.strictObject({ c: z.boolean() })]))
        .max(5)
        .optional(),
      token: z.string().optional(),
    }),
    output: z.looseObject({ list: z.array(z.unknown()).optional() }),
    partial: z.looseObject({}),
    errors: ['not_found', 'upstream_unavailable', 'rate_limited'],
    paging: { token: 'token', cursor: z.unknown(), items: 'list' },
    handler: () => behave() as Record<string, unknown>,
  });

const tools = { read: define('read'), idempotent: define('idempotent'), once: define('once') };
const schemas = {
  read: z.fromJSONSchema(outputJsonSchema(tools.read)),
  idempotent: z.fromJSONSchema(outputJsonSchema(tools.idempotent)),
  once: z.fromJSONSchema(outputJsonSchema(tools.once)),
};

async function check(effect: Effect, args: unknown, byteBudget = 48 * 1024): Promise<void> {
  const { envelope, text, bytes } = await runTool(tools[effect], args, { byteBudget });
  const wire: unknown = JSON.parse(text);
  expect(envelopeSchema.safeParse(wire).error).toBeUndefined();
  expect(schemas[effect].safeParse(wire).error).toBeUndefined();
  expect(bytes).toBe(Buffer.byteLength(text));
  expect(envelope.success || tools[effect].possibleCodes.includes(envelope.error.code)).toBe(true);
}

const effects = fc.constantFrom<Effect[]>('read', 'idempotent', 'once');
const anything = fc.anything({
  withBigInt: true,
  withBoxedValues: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withObjectString: true,
  withSet: true,
  withSparseArray: true,
  withTypedArray: true,
});

it('answers any arguments', async () => {
  behave = () => ({});
  const near = fc.record(
    { a: anything, b: fc.array(anything), token: anything },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(fc.oneof(anything, near), (args) => check('read', args)),
    { numRuns: 400 },
  );
});

it('answers any return value, in any byte budget', async () => {
  const listed = fc.record({ list: fc.array(fc.oneof(fc.jsonValue(), anything)) });
  const returned = fc.oneof(
    anything,
    listed,
    fc.tuple(listed, anything).map(([data, next]) => page(data, { next, after: () => next })),
    anything.map((data) => answer(data)),
  );
  const budgets = fc.constantFrom(0, 300, 1000, 48 * 1024);
  await fc.assert(
    fc.asyncProperty(returned, effects, budgets, (value, effect, budget) => {
      behave = () => value;
      return check(effect, {}, budget);
    }),
    { numRuns: 400 },
  );
});

it('answers any exception or failure', async () => {
  const kinds =
    'connect network timeout rate_limited server auth rejected bad_response cancelled circuit_open overloaded unexpected nonsense';
  const limit = fc.record({ limit: fc.nat(), remaining: fc.integer(), reset: fc.double() });
  const fault = fc.record(
    {
      kind: fc.constantFrom(...kinds.split(' ')),
      sent: fc.constantFrom('no', 'maybe', 'answered', 'what'),
      status: fc.oneof(fc.integer({ min: 100, max: 599 }), anything),
      clock: fc.oneof(fc.string(), anything),
      retryAfterMs: fc.oneof(fc.nat(), fc.double(), anything),
      limits: fc.oneof(fc.array(limit), anything),
    },
    { requiredKeys: ['kind', 'sent'] },
  );
  const failure = fc
    .tuple(fc.constantFrom(...errorCodes), anything)
    .map(([code, data]) => toolError(code, 'm', { data }));
  const thrown = fc.oneof(
    anything,
    failure,
    fault.map((value) => ({ fault: value })),
  );
  await fc.assert(
    fc.asyncProperty(thrown, effects, (value, effect) => {
      behave = () => {
        throw value;
      };
      return check(effect, {});
    }),
    { numRuns: 400 },
  );
});

it('answers with any middleware and options', async () => {
  /** Left out most of the time, so that one odd field does not always hide behind another. */
  const rarely = (arbitrary: fc.Arbitrary<unknown>) =>
    fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
  const odd = (...values: unknown[]) => fc.oneof(fc.constantFrom(...values), anything);
  const figures = {
    rateLimit: rarely(
      fc.oneof(
        anything,
        fc.record({ limit: odd(1, Number.NaN), remaining: odd(1), reset: odd('soon', '2026') }),
      ),
    ),
    idempotency: rarely(
      fc.oneof(
        anything,
        fc.record({ key: odd('k'), replayed: odd(true), first_at: odd('soon', '2026') }),
      ),
    ),
  };
  const errors = fc.record({
    code: odd(...errorCodes, ...tools.read.possibleCodes),
    message: odd('m'),
    outcome: rarely(odd('executed', 'not_executed', 'unknown', 'maybe')),
    operationId: rarely(odd('op_1', '')),
    retryAfterMs: rarely(odd(5, -1, Number.NaN)),
    rateLimitReset: rarely(odd('soon', new Date(0), new Date(8e15))),
    details: rarely(odd({}, { clock: 'x' })),
  });
  const settled = fc.oneof(
    anything,
    fc.record({
      ok: fc.constant(true),
      data: odd({}, { list: [1] }),
      paging: rarely(odd({ next: 1 }, { next: 1n }, { after: 5 })),
      ...figures,
    }),
    fc.record({ ok: fc.constant(false), error: errors, data: rarely(odd({})), ...figures }),
  );
  const options = fc.record(
    {
      correlationId: anything,
      deadline: fc.oneof(fc.constant(performance.now() + 1e6), anything),
      signal: anything,
      progress: anything,
      profile: fc.oneof(fc.constant({ name: 'api' }), anything),
      clock: anything,
      byteBudget: fc.oneof(fc.double(), anything),
      tokens: anything,
      retryCount: fc.oneof(
        anything,
        anything.map((value) => () => value),
      ),
      onUnexpected: anything,
    },
    { requiredKeys: [] },
  );
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      settled,
      options,
      effects,
      fc.boolean(),
      async (value, given, effect, calm) => {
        behave = () => ({ list: [1] });
        const middleware = () => Promise.resolve(value);
        const all = { ...(calm ? {} : given), middleware } as RunOptions;
        const { envelope, text } = await runTool(tools[effect], {}, all);
        expect(envelopeSchema.safeParse(JSON.parse(text)).error).toBeUndefined();
        expect(envelopeSchema.safeParse(envelope).error).toBeUndefined();
        seen.add(envelope.success ? 'success' : envelope.error.code);
      },
    ),
    { numRuns: 800 },
  );
  // Both rejected and accepted cases occurred.
  for (const code of ['success', 'internal_error', 'serialization_error']) {
    expect(seen).toContain(code);
  }
  expect(seen.size).toBeGreaterThan(5);
});

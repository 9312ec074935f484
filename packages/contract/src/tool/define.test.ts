import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { including } from '../matchers.fixture.js';
import { accountOf, isJournaled, ofPack, type Tool, toolAnnotations, windowOf } from './tool.js';
import { profilesFrom, ToolDefinitionError } from './check-definition.js';
import { runTool } from '../run/run-tool.js';
import { defineTool, implementTool, specifyTool } from './define.js';
import { reading } from './define.fixture.js';
import { toolError } from './result.js';

const acting = {
  ...reading,
  name: 'post_item',
  effect: 'once',
  profiles: profilesFrom('api'),
} as const;

/** A definition as an author in plain JavaScript could write it. */
function define(definition: object): Tool {
  return defineTool(definition as typeof reading);
}

function refusal(definition: object): ToolDefinitionError {
  try {
    define(definition);
  } catch (error) {
    if (error instanceof ToolDefinitionError) return error;
    throw error;
  }
  throw new Error('was accepted');
}

describe('an invalid definition throws, naming tool and field', () => {
  const paging = { token: 'page_token', cursor: z.int(), items: 'items' };

  it.each<[field: string, problem: string, definition: object]>([
    ['name', 'empty', { ...reading, name: '' }],
    ['name', 'capitals', { ...reading, name: 'getItem' }],
    ['name', 'too long', { ...reading, name: 'a'.repeat(65) }],
    ['name', 'not a text', { ...reading, name: 7 }],
    ['title', 'empty', { ...reading, title: ' ' }],
    ['description', 'missing', { ...reading, description: undefined }],
    ['category', 'spaces', { ...reading, category: 'Read only' }],
    ['version', 'not a version', { ...reading, version: 'latest' }],
    ['effect', 'unknown', { ...reading, effect: 'write' }],
    ['destructive', 'on a read', { ...reading, destructive: true }],
    ['profiles', 'empty', { ...reading, profiles: [] }],
    ['profiles', 'unknown', { ...reading, profiles: ['admin'] }],
    ['profiles', 'twice', { ...reading, profiles: ['api', 'workflow', 'api'] }],
    ['profiles', 'a mutation in readonly', { ...acting, profiles: reading.profiles }],
    ['profiles', 'readonly but not api', { ...reading, profiles: ['readonly', 'workflow'] }],
    ['requires', 'unknown', { ...reading, requires: ['Mongo DB'] }],
    ['requires', 'twice', { ...reading, requires: ['db', 'db'] }],
    ['errors', 'unknown', { ...reading, errors: ['oops'] }],
    ['errors', 'inherited name', { ...reading, errors: ['toString'] }],
    ['errors', 'twice', { ...reading, errors: ['not_found', 'not_found'] }],
    ['errors', 'not a list', { ...reading, errors: 'not_found' }],
    ['input', 'not an object', { ...reading, input: z.string() }],
    ['input', 'loose', { ...reading, input: z.looseObject({}) }],
    ['input', 'catchall', { ...reading, input: z.object({}).catchall(z.string()) }],
    ['input', 'reserved', { ...reading, input: z.object({ idempotency_key: z.string() }) }],
    ['input', 'no JSON Schema', { ...reading, input: z.object({ at: z.date() }) }],
    [
      'input',
      'a mutation with arguments that are not JSON',
      { ...acting, input: z.object({ n: z.string().transform(Number) }) },
    ],
    ['output', 'no JSON Schema', { ...reading, output: z.bigint() }],
    [
      'output',
      'a change of values that a replay would make twice',
      {
        ...reading,
        output: z
          .number()
          .transform((n) => n * 2)
          .pipe(z.number()),
      },
    ],
    [
      'partial',
      'a change of values',
      { ...reading, partial: z.object({ n: z.string().transform(Number).pipe(z.number()) }) },
    ],
    ['output', 'a transform', { ...reading, output: z.string().transform((s) => s.length) }],
    ['output', 'void', { ...reading, output: z.void() }],
    ['output', 'optional', { ...reading, output: z.string().optional() }],
    ['output', 'not a schema', { ...reading, output: {} }],
    ['partial', 'no JSON Schema', { ...reading, partial: z.map(z.string(), z.string()) }],
    ['paging.token', 'no such argument', { ...reading, paging: { ...paging, token: 'next' } }],
    ['paging.token', 'not optional', { ...reading, paging: { ...paging, token: 'id' } }],
    ['paging.items', 'no such list', { ...reading, paging: { ...paging, items: 'things' } }],
    [
      'paging.items',
      'data is no list',
      { ...reading, paging: { token: 'page_token', cursor: z.int() } },
    ],
    [
      'paging.unbound',
      'no such argument',
      { ...reading, paging: { ...paging, unbound: ['size'] } },
    ],
    ['paging.cursor', 'no JSON Schema', { ...reading, paging: { ...paging, cursor: z.date() } }],
    ['send', 'unknown', { ...acting, send: 'manual' }],
    ['send', 'explicit on a read', { ...reading, send: 'explicit' }],
    ['send', 'automatic with steps', { ...acting, step: z.object({ id: z.string() }) }],
    ['normalize', 'on a read', { ...reading, normalize: () => ({}) }],
    ['accountId', 'on a read', { ...reading, accountId: () => ({ id: 'x:1' }) }],
    ['step', 'on a read', { ...reading, step: z.object({ id: z.string() }) }],
    [
      'step',
      'that changes values',
      { ...acting, send: 'explicit', step: z.string().transform(Number) },
    ],
    ['window', 'on a read', { ...reading, window: 1000 }],
    ['window', 'negative', { ...acting, window: -1 }],
    ['window', 'NaN', { ...acting, window: Number.NaN }],
    ['window', 'on an inverse', { ...acting, window: 5, inverse: { of: 'other' } }],
    ['inverse', 'on a read', { ...reading, inverse: { of: 'other' } }],
    ['inverse', 'of itself', { ...acting, inverse: { of: 'post_item' } }],
    [
      'inverse',
      'two ways',
      { ...acting, inverse: { of: 'other', args: () => ({}), matches: () => true } },
    ],
    ['key', 'on a read', { ...reading, key: 'a:{id}' }],
    ['key', 'names nothing', { ...acting, key: 'post' }],
    ['key', 'unknown argument', { ...acting, key: 'post:{text}' }],
    ['key', 'a sensitive argument', { ...acting, key: 'post:{id}', sensitive: ['id'] }],
    [
      'reconcile',
      'on a read',
      { ...reading, reconcile: { authoritative: true, readBack: () => 0 } },
    ],
    ['retryUnsent', 'on a read', { ...reading, retryUnsent: true }],
    ['retryUnsent', 'on idempotent', { ...acting, effect: 'idempotent', retryUnsent: true }],
    ['sensitive', 'unknown argument', { ...reading, sensitive: ['password'] }],
    ['handler', 'missing', { ...reading, handler: undefined }],
    ['retriable', 'no such field', { ...reading, retriable: true }],
  ])('%s: %s', (field, _, definition) => {
    const error = refusal(definition);
    expect(error.field).toBe(field);
    expect(error.message).toContain(`field "${field}"`);
    const { name } = definition as { name: unknown };
    if (typeof name === 'string') expect(error.message).toContain(`tool "${name.slice(0, 20)}`);
  });

  it('a specification without a handler too', () => {
    const { handler: _, ...traits } = reading;
    expect(() => specifyTool({ ...traits, errors: ['not_found', 'not_found'] })).toThrow(
      ToolDefinitionError,
    );
  });
});

describe('a defined tool', () => {
  it('is frozen', () => {
    const tool = defineTool(reading);
    expect(Object.isFrozen(tool)).toBe(true);
    expect(
      [tool.errors, tool.profiles, tool.requires, tool.possibleCodes].every(Object.isFrozen),
    ).toBe(true);
  });

  it('copies its lists', () => {
    const errors: 'not_found'[] = ['not_found'];
    const tool = defineTool({ ...reading, errors });
    errors.push('not_found');
    expect(tool.errors).toEqual(['not_found']);
  });

  it('rejects unknown arguments, also in its JSON Schema', () => {
    const tool = defineTool(reading);
    expect(tool.inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
    expect(tool.input.safeParse({ id: 'a', x: 1 }).success).toBe(false);
    expect(tool.inputSchema).not.toHaveProperty('$schema');
  });

  it('keeps the refinements of its arguments', () => {
    const input = z.object({ a: z.string() }).refine(({ a }) => a !== 'bad');
    const tool = defineTool({ ...reading, input });
    expect(tool.input.safeParse({ a: 'bad' }).success).toBe(false);
    expect(tool.input.safeParse({ a: 'good' }).success).toBe(true);
  });

  it('accepts nested strict and loose objects', () => {
    const input = z.object({
      a: z.strictObject({ b: z.string() }),
      c: z.looseObject({}),
      d: z.record(z.string(), z.int()),
    });
    expect(() => defineTool({ ...reading, input })).not.toThrow();
  });

  it('has nested objects as the author wrote them, also in its JSON Schema', async () => {
    const { handler: _, ...traits } = { ...reading, errors: [] } as const;
    const input = z.object({
      strict: z.strictObject({ a: z.int() }).optional(),
      loose: z.looseObject({ a: z.int() }).optional(),
      plain: z.object({ a: z.int() }).optional(),
      listed: z.union([z.string(), z.array(z.object({ a: z.int() }))]).optional(),
    });
    const seen: unknown[] = [];
    const tool = defineTool({
      ...traits,
      input,
      handler: (args) => {
        seen.push(args);
        return { items: [] };
      },
    });
    const more = { a: 1, b: 2 };
    const refused = await runTool(tool, { strict: more });
    expect(refused.envelope).toMatchObject({ error: { code: 'validation_error' } });
    await runTool(tool, { loose: more, plain: more, listed: [more] });
    expect(seen).toEqual([{ loose: more, plain: { a: 1 }, listed: [{ a: 1 }] }]);
    expect(tool.inputSchema).toMatchObject({
      additionalProperties: false,
      properties: {
        strict: { additionalProperties: false },
        loose: { additionalProperties: {} },
        plain: { type: 'object', properties: { a: { type: 'integer' } } },
      },
    });
    expect(tool.inputSchema).not.toHaveProperty('properties.plain.additionalProperties');
  });

  it('does not treat a default value as a schema', () => {
    const input = z.object({ a: z.looseObject({}).default({ properties: { x: 1 } }) });
    expect(() => defineTool({ ...reading, input })).not.toThrow();
  });

  it('lists declared, shared and effect-specific codes', () => {
    const read = defineTool(reading).possibleCodes;
    expect(read).toEqual(read.toSorted());
    expect(read).toEqual(including(['not_found', 'internal_error', 'validation_error', 'timeout']));
    expect(read).not.toContain('outcome_unknown');
    expect(read).not.toContain('invalid_input');
    expect(defineTool(acting).possibleCodes).toEqual(
      including(['outcome_unknown', 'approval_required', 'idempotency_conflict']),
    );
    const paging = { token: 'page_token', cursor: z.int(), items: 'items' };
    expect(defineTool({ ...reading, paging }).possibleCodes).toContain('invalid_input');
  });

  it('is the same with specifyTool and implementTool', () => {
    const { handler, ...traits } = reading;
    const spec = specifyTool(traits);
    expect(spec).not.toHaveProperty('handler');
    const tool = implementTool(spec, { handler });
    const { input: _a, output: _b, ...made } = tool;
    expect(defineTool(reading)).toMatchObject(made);
  });
});

describe('annotations', () => {
  const hints = (definition: object) => toolAnnotations(define(definition));

  it('of a read', () => {
    expect(hints(reading)).toEqual({
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: true,
    });
  });

  it('of mutations', () => {
    expect(hints(acting)).toMatchObject({
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
    });
    expect(hints({ ...acting, effect: 'idempotent' })).toMatchObject({ idempotentHint: true });
    expect(hints({ ...acting, destructive: false, openWorld: false })).toMatchObject({
      destructiveHint: false,
      openWorldHint: false,
    });
  });
});

describe('journal settings of a definition', () => {
  it('the window of content', () => {
    expect(windowOf(define(acting))).toBe(30_000);
    expect(windowOf(define({ ...acting, window: 0 }))).toBe(0);
    expect(windowOf(define({ ...acting, window: 90_000 }))).toBe(90_000);
    expect(windowOf(define({ ...acting, inverse: { of: 'other' } }))).toBe(0);
    expect(windowOf(define({ ...acting, effect: 'idempotent' }))).toBe(0);
  });

  it('whether the journal records it', () => {
    expect(isJournaled(define(reading))).toBe(false);
    expect(isJournaled(define({ ...acting, window: 0 }))).toBe(true);
    const idempotent = { ...acting, effect: 'idempotent' };
    expect(isJournaled(define(idempotent))).toBe(false);
    expect(isJournaled(define({ ...idempotent, window: 30_000 }))).toBe(true);
    expect(isJournaled(define({ ...idempotent, key: 'like:{id}' }))).toBe(true);
    expect(isJournaled(define({ ...idempotent, inverse: { of: 'other' } }))).toBe(true);
  });

  it('the account of a call', () => {
    expect(accountOf(define(acting), { id: 'a' })).toBe('default');
    expect(accountOf(define({ ...acting, account: 'main' }), { id: 'a' })).toBe('main');
    const byArgs = defineTool({ ...acting, account: ({ id }) => `org-${id}` });
    expect(accountOf(byArgs, { id: 'a' })).toBe('org-a');
  });
});

describe('an invalid definition throws a ToolDefinitionError, never a raw TypeError', () => {
  const paging = { token: 'page_token', cursor: z.int(), items: 'items' };
  const whole = { ...acting, paging, key: 'post:{id}', sensitive: ['limit'], window: 5 };

  it.each([undefined, null, 5, 'get_item', []])('%o', (given) => {
    for (const make of [
      () => define(given as never),
      () => specifyTool(given as never),
      () => implementTool(given as never, reading as never),
    ]) {
      expect(make).toThrow(ToolDefinitionError);
      expect(make).toThrow('field "name"');
    }
    if (Array.isArray(given)) return;
    const { handler: _, ...traits } = reading;
    expect(() => implementTool(specifyTool(traits), given as never)).toThrow('field "handler"');
  });

  const fields = [
    ...Object.keys(whole),
    'requires',
    'version',
    'partial',
    'destructive',
    'inverse',
  ];
  const parts = ['token', 'cursor', 'items', 'unbound'];
  const junk = [null, 5, '', 'x', {}, [], [5], [null], true, Symbol('x'), () => 1];
  it.each(fields)('for any value of %s', (field) => {
    const definitions = junk.map((value) => ({ ...whole, [field]: value }));
    expect(definitions.filter((definition) => !isJudged(definition))).toEqual([]);
  });

  it.each(parts)('for any value of paging.%s', (part) => {
    const definitions = junk.map((value) => ({ ...whole, paging: { ...paging, [part]: value } }));
    expect(definitions.filter((definition) => !isJudged(definition))).toEqual([]);
  });

  /** Taken, or refused in our words. */
  function isJudged(definition: object): boolean {
    try {
      define(definition);
      return true;
    } catch (refused) {
      return refused instanceof ToolDefinitionError;
    }
  }
});

describe('a tool with the five required fields', () => {
  const minimal = {
    name: 'x_post_tweet',
    description: 'Posts.',
    effect: 'once',
    input: z.object({ text: z.string() }),
  } as const;
  const returning = (data: unknown) => defineTool({ ...minimal, handler: () => data as object });
  const run = async (data: unknown) => (await runTool(returning(data), { text: 'a' })).envelope;

  it('has defaults for the others', () => {
    const tool = returning({});
    expect(tool).toMatchObject({
      title: 'X post tweet',
      category: 'general',
      profiles: ['api', 'workflow'],
      requires: [],
      version: '1.0',
      send: 'automatic',
      destructive: true,
    });
    expect(tool).not.toHaveProperty('errors');
    expect(tool.possibleCodes).toEqual(
      including(['upstream_unavailable', 'rate_limited', 'timeout', 'outcome_unknown']),
    );
    const read = defineTool({ ...minimal, effect: 'read', handler: () => ({}) });
    expect(read.profiles).toEqual(['readonly', 'api', 'workflow']);
    expect(ofPack('My-pack', [tool])).toMatchObject([{ category: 'my_pack' }]);
    expect(ofPack('mine', [defineTool(reading)])).toMatchObject([{ category: 'read' }]);
  });

  it('returns any JSON object', async () => {
    expect(await run({ id: 1, tags: ['a'], by: { name: null } })).toMatchObject({
      success: true,
      data: { id: 1, tags: ['a'], by: { name: null } },
    });
  });

  it.each([['text'], [7], [null], [undefined], [[{ id: 1 }]], [{ at: new Date(0) }], [{ n: 1n }]])(
    'fails with serialization_error for %o',
    async (data) => {
      expect(await run(data)).toMatchObject({
        error: { code: 'serialization_error', outcome: 'executed' },
      });
    },
  );

  it('returns any code that is registered', async () => {
    expect(await run(toolError('tweet_too_long', 'x'))).toMatchObject({
      error: { code: 'tweet_too_long' },
    });
  });
});

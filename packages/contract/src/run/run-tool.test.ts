import type { Fault } from '@toolkeel/kernel';
import { describe, expect, expectTypeOf, it, vi } from 'vitest';
import * as z from 'zod';
import { envelopeSchema } from '../envelope/schema.js';
import { acceptControls } from '../tool/controls.js';
import { defineTool } from '../tool/define.js';
import { answer, toolError } from '../tool/result.js';
import type { Tool } from '../tool/tool.js';
import type { Around, RunOptions } from './options.js';
import { runTool } from './run-tool.js';

const base = {
  name: 'get_item',
  title: 'Get',
  description: 'Gets.',
  category: 'read',
  effect: 'read',
  profiles: ['readonly', 'api', 'workflow'],
  input: z.object({ id: z.string().max(20), limit: z.int().max(100).default(10) }),
  output: z.object({ id: z.string(), n: z.number() }),
  errors: ['not_found', 'upstream_unavailable'],
  handler: ({ id, limit }: { id: string; limit: number }) => ({ id, n: limit }),
} as const;
const reading = defineTool(base);
const acting = { ...base, effect: 'once', profiles: ['api', 'workflow'] } as const;

/** A tool with any handler at all, typed or not. */
function toolWith(handler: () => unknown, more: object = {}): Tool {
  return defineTool({ ...base, ...more, handler: handler as () => { id: string; n: number } });
}

async function run(tool: Tool, args: unknown, options: RunOptions = {}) {
  const result = await runTool(tool, args, options);
  expect(envelopeSchema.safeParse(JSON.parse(result.text)).error).toBeUndefined();
  expect(JSON.parse(result.text)).toEqual(JSON.parse(JSON.stringify(result.envelope)));
  expect(result.bytes).toBe(new TextEncoder().encode(result.text).length);
  return result.envelope;
}

describe('a call that succeeds', () => {
  it('answers with data, time and correlation id', async () => {
    let time = 100;
    const slow = toolWith(() => ({ id: 'a', n: (time += 34) }));
    expect(await run(slow, { id: 'a' }, { now: () => time, correlationId: 'c-1' })).toEqual({
      success: true,
      data: { id: 'a', n: 134 },
      meta: { tool_version: '1.0', elapsed_ms: 34, retry_count: 0, correlation_id: 'c-1' },
    });
  });

  it('gives its data a type', async () => {
    const { envelope } = await runTool(reading, { id: 'a' });
    expectTypeOf(envelope.data).toEqualTypeOf<unknown>();
    if (envelope.success) expectTypeOf(envelope.data).toEqualTypeOf<{ id: string; n: number }>();
    expect(envelope.data).toEqual({ id: 'a', n: 10 });
  });

  it('parses once and stringifies once', async () => {
    const stringify = vi.spyOn(JSON, 'stringify');
    const parseInput = vi.spyOn(reading.input, 'safeParse');
    await runTool(reading, { id: 'a' });
    expect(stringify).toHaveBeenCalledTimes(1);
    expect(parseInput).toHaveBeenCalledTimes(1);
    vi.restoreAllMocks();
  });

  it('hands defaults to the handler and nothing that its schema does not name', async () => {
    const extra = toolWith(() => ({ id: 'a', n: 1, secret: 'x' }));
    expect(await run(extra, { id: 'a' })).toMatchObject({ data: { id: 'a', n: 1 } });
    expect((await run(extra, { id: 'a' })).data).not.toHaveProperty('secret');
  });

  it('makes up a correlation id where none is given', async () => {
    const [one, two] = [await run(reading, { id: 'a' }), await run(reading, { id: 'a' })];
    expect(one.meta.correlation_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(one.meta.correlation_id).not.toBe(two.meta.correlation_id);
  });

  it('carries the limits that the upstream told', async () => {
    const rateLimit = { limit: 300, remaining: 12, reset: '2026-01-01T00:00:00.000Z' };
    const tool = toolWith(() => answer({ id: 'a', n: 1 }, { rateLimit }));
    expect(await run(tool, { id: 'a' })).toMatchObject({ meta: { rate_limit: rateLimit } });
  });

  it('shows the mode in workflow', async () => {
    const profile = { name: 'workflow', mode: 'autopilot', approvalMode: false } as const;
    expect((await run(reading, { id: 'a' }, { profile })).meta).toMatchObject({
      mode: 'autopilot',
      approval_mode: false,
    });
  });

  it('counts the retries that the handler noted, or those of the host', async () => {
    const tool = defineTool({
      ...base,
      handler: ({ id }, { noteRetry }) => {
        noteRetry();
        noteRetry();
        return { id, n: 1 };
      },
    });
    expect((await run(tool, { id: 'a' })).meta.retry_count).toBe(2);
    expect((await run(tool, { id: 'a' }, { retryCount: () => 7 })).meta.retry_count).toBe(7);
  });

  it('gives the handler its surroundings, and reads the signal only when the handler does', async () => {
    const signal = vi.fn(() => AbortSignal.timeout(10_000));
    const options = {
      correlationId: 'c-1',
      deadline: 5,
      progress: vi.fn(),
      get signal() {
        return signal();
      },
    };
    const tool = defineTool({
      ...base,
      handler: ({ id }, context) => {
        context.progress({ progress: 1 });
        return { id, n: context.deadline + context.correlationId.length };
      },
    });
    expect((await run(tool, { id: 'a' }, options)).data).toEqual({ id: 'a', n: 8 });
    expect(options.progress).toHaveBeenCalledWith({ progress: 1 });
    expect(signal).not.toHaveBeenCalled();
  });

  it('gives every handler a signal of its own where the host gives none', async () => {
    const seen: AbortSignal[] = [];
    const tool = defineTool({
      ...base,
      handler: ({ id }, context) => {
        seen.push(context.signal, context.signal);
        return { id, n: 1 };
      },
    });
    await run(tool, { id: 'a' });
    await run(tool, { id: 'a' });
    expect(new Set(seen).size).toBe(2);
  });
});

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

describe('a tool error', () => {
  it('becomes the error of the envelope', async () => {
    const tool = toolWith(() =>
      toolError('upstream_unavailable', 'Down.', { retryAfterMs: 5, details: { status: 503 } }),
    );
    expect(await run(tool, { id: 'a' })).toMatchObject({
      success: false,
      data: null,
      error: {
        code: 'upstream_unavailable',
        message: 'Down.',
        retryable: true,
        retry_after_ms: 5,
        details: { status: 503 },
      },
    });
  });

  it('may also be thrown', async () => {
    const tool = toolWith(() => {
      throw toolError('not_found', 'No such item.');
    });
    expect((await run(tool, { id: 'a' })).error).toMatchObject({
      code: 'not_found',
      message: 'No such item.',
    });
  });

  it('of a code that was not declared is an internal error, and loud', async () => {
    const onUnexpected = vi.fn();
    const tool = toolWith(() => toolError('forbidden', 'secret reason'));
    const { error } = await run(tool, { id: 'a' }, { onUnexpected, correlationId: 'c-1' });
    expect(error?.code).toBe('internal_error');
    expect(error?.message).not.toContain('secret');
    expect(onUnexpected).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({
        message: expect.stringContaining('"get_item" answered with forbidden'),
      }),
      'c-1',
    );
  });

  it('carries a part where the tool declares one', async () => {
    const partial = z.object({ done: z.array(z.string()) });
    const tool = toolWith(() => toolError('not_found', 'x', { data: { done: ['a'], more: 1 } }), {
      partial,
    });
    expect((await run(tool, { id: 'a' })).data).toEqual({ done: ['a'] });
  });

  it.each<[string, unknown, z.ZodType | undefined]>([
    ['not declared', { done: ['a'] }, undefined],
    ['of another shape', { done: 'a' }, z.object({ done: z.array(z.string()) })],
    ['not JSON', { done: 1n }, z.object({ done: z.unknown() })],
  ])('keeps its code and loses a part that is %s', async (_, data, partial) => {
    const onUnexpected = vi.fn();
    const tool = toolWith(() => toolError('not_found', 'x', { data }), partial ? { partial } : {});
    expect(await run(tool, { id: 'a' }, { onUnexpected })).toMatchObject({
      data: null,
      error: { code: 'not_found' },
    });
    expect(onUnexpected).toHaveBeenCalledOnce();
  });

  it('says nothing of an outcome for a tool that only reads', async () => {
    const tool = toolWith(() => toolError('not_found', 'x', { outcome: 'not_executed' }));
    expect((await run(tool, { id: 'a' })).error).not.toHaveProperty('outcome');
  });

  it('does not advise to repeat what may have happened', async () => {
    const unknown = () =>
      toolError('upstream_unavailable', 'x', { outcome: 'unknown', details: { status: 502 } });
    expect((await run(toolWith(unknown, acting), { id: 'a' })).error).toEqual({
      code: 'outcome_unknown',
      message: expect.stringContaining('Do not repeat'),
      retryable: false,
      outcome: 'unknown',
      details: { cause_code: 'upstream_unavailable', status: 502 },
    });
    const idempotent = toolWith(unknown, { ...acting, effect: 'idempotent' });
    expect((await run(idempotent, { id: 'a' })).error).toMatchObject({
      code: 'upstream_unavailable',
      retryable: true,
      outcome: 'unknown',
    });
  });
});

describe('what nobody foresaw', () => {
  const secret = 'sk-live-0123456789';
  const throwing = (value: unknown) => () => {
    throw value;
  };
  const hostile = new Proxy(
    {},
    { get: throwing(new Error(secret)), has: throwing(new Error(secret)) },
  );

  it.each<[string, () => unknown]>([
    ['a thrown error', throwing(new Error(`${secret} at /home/me/app.ts`))],
    ['a thrown text', throwing(secret)],
    ['a thrown null', throwing(null)],
    ['a thrown undefined', throwing(undefined)],
    ['a thrown object', throwing({ message: secret, fault: 7 })],
    ['a thrown proxy', throwing(hostile)],
    ['a thrown object with a bad fault', throwing({ fault: { kind: 'toString', sent: 'no' } })],
    ['a rejection', () => Promise.reject(new Error(secret))],
    ['a rejected undefined', () => Promise.reject(undefined)],
    [
      'a getter that throws',
      () => ({
        id: 'a',
        get n() {
          throw new Error(secret);
        },
      }),
    ],
    ['a thenable that throws', () => ({ then: throwing(new Error(secret)) })],
    ['a proxy that throws', () => hostile],
    [
      'an error with a bad code',
      throwing({ fault: { kind: 'rate_limited', sent: 'no', retryAfterMs: -1 } }),
    ],
  ])('%s is an internal error that gives nothing away', async (_, handler) => {
    const onUnexpected = vi.fn();
    const { envelope, text } = await runTool(
      toolWith(handler),
      { id: 'a' },
      { onUnexpected, correlationId: 'c-1' },
    );
    expect(envelope.error).toEqual({
      code: 'internal_error',
      message: expect.stringContaining('correlation_id'),
      retryable: false,
    });
    expect(text).not.toContain(secret);
    expect(text).not.toMatch(/\/home|\.ts|stack/);
    expect(onUnexpected).toHaveBeenCalledExactlyOnceWith(
      ...[onUnexpected.mock.lastCall?.[0], 'c-1'],
    );
  });

  it('hands the very cause to the hook', async () => {
    const cause = new Error(secret);
    const onUnexpected = vi.fn();
    await run(toolWith(throwing(cause)), { id: 'a' }, { onUnexpected });
    expect(onUnexpected.mock.calls[0]?.[0]).toBe(cause);
  });

  it('leaves a mutation unknown', async () => {
    const { error } = await run(toolWith(throwing(new Error('x')), acting), { id: 'a' });
    expect(error).toMatchObject({ code: 'internal_error', outcome: 'unknown' });
  });

  it('is an internal error also when a hook, a clock, a middleware or an option fails', async () => {
    const fail = throwing(new Error(secret));
    const cases: RunOptions[] = [
      { onUnexpected: fail, around: fail },
      { now: fail, around: fail },
      { retryCount: fail, around: fail },
      { around: () => Promise.reject(new Error(secret)) },
      { around: (() => undefined) as unknown as Around },
      { around: (() => ({ ok: false })) as unknown as Around },
      {
        get correlationId(): string {
          throw new Error(secret);
        },
      },
      { profile: { name: 'workflow' } as never },
    ];
    for (const options of cases) {
      expect((await run(reading, { id: 'a' }, options)).error?.code).toBe('internal_error');
    }
  });

  it('does not hide a success when only the clock fails', async () => {
    const fail = throwing(new Error(secret));
    const envelope = await run(reading, { id: 'a' }, { now: fail, retryCount: fail });
    expect(envelope).toMatchObject({ success: true, meta: { elapsed_ms: 0, retry_count: 0 } });
  });

  it.each<[string, unknown]>([
    ['a proxy', hostile],
    [
      'a revoked proxy',
      (() => {
        const { proxy, revoke } = Proxy.revocable({}, {});
        revoke();
        return proxy;
      })(),
    ],
    [
      'a getter',
      {
        get id() {
          throw new Error(secret);
        },
      },
    ],
  ])('arguments behind %s that throws are an internal error', async (_, args) => {
    const { envelope, text } = await runTool(reading, args);
    expect(envelope.error?.code).toMatch(/^(?:internal|validation)_error$/);
    expect(text).not.toContain(secret);
  });

  it('includes a tool that is none', async () => {
    for (const tool of [{}, null, undefined, 5] as unknown as Tool[]) {
      expect((await run(tool, {})).error?.code).toBe('internal_error');
    }
    expect((await run(reading, {}, null as unknown as RunOptions)).error?.code).toBe(
      'internal_error',
    );
  });
});

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
    expect(error?.details).toMatchObject({ field: expect.stringContaining(field) });
    expect(onUnexpected).toHaveBeenCalledOnce();
  });

  it('does not call a mutation undone', async () => {
    const { error } = await run(
      toolWith(() => ({}), acting),
      { id: 'a' },
    );
    expect(error).toMatchObject({ code: 'serialization_error', outcome: 'executed' });
  });

  it('leaves out members that are undefined, as JSON does', async () => {
    const tool = toolWith(() => ({ v: { a: undefined, b: 1 } }), { output: open });
    const { envelope, text } = await runTool(tool, { id: 'a' });
    expect(envelope.success).toBe(true);
    expect(text).toContain('"data":{"v":{"b":1}}');
  });
});

describe('a fault of the kernel', () => {
  const faulty = (fault: Partial<Fault> & Pick<Fault, 'kind'>, more: object = {}) =>
    toolWith(
      () => {
        throw Object.assign(new Error('secret'), { fault: { sent: 'maybe', ...fault } });
      },
      {
        errors: [
          'upstream_unavailable',
          'upstream_rejected',
          'rate_limited',
          'unauthorized',
          'forbidden',
          'not_found',
          'circuit_open',
        ],
        ...more,
      },
    );
  const errorOf = async (...given: Parameters<typeof faulty>) =>
    (await run(faulty(...given), { id: 'a' })).error;

  it.each<[Partial<Fault> & Pick<Fault, 'kind'>, object]>([
    [
      { kind: 'timeout', clock: 'idle' },
      { code: 'timeout', retryable: true, details: { clock: 'idle' } },
    ],
    [
      { kind: 'rate_limited', retryAfterMs: 61_000, status: 429 },
      { code: 'rate_limited', retry_after_ms: 61_000 },
    ],
    [
      { kind: 'rate_limited', final: true },
      { code: 'rate_limited', details: { final: true } },
    ],
    [
      { kind: 'connect', sent: 'no' },
      { code: 'upstream_unavailable', retryable: true },
    ],
    [{ kind: 'network' }, { code: 'upstream_unavailable' }],
    [
      { kind: 'server', status: 503, retryAfterMs: 9 },
      { code: 'upstream_unavailable', retry_after_ms: 9, details: { status: 503 } },
    ],
    [
      { kind: 'server', status: 501 },
      { code: 'upstream_rejected', retryable: false },
    ],
    [
      { kind: 'server', status: 505 },
      { code: 'upstream_rejected', retryable: false },
    ],
    [{ kind: 'auth', status: 401 }, { code: 'unauthorized' }],
    [
      { kind: 'rejected', status: 404 },
      { code: 'not_found', retryable: false },
    ],
    [{ kind: 'rejected', status: 410 }, { code: 'not_found' }],
    [{ kind: 'rejected', status: 403 }, { code: 'forbidden' }],
    [
      { kind: 'rejected', status: 422 },
      { code: 'upstream_rejected', details: { status: 422 } },
    ],
    [{ kind: 'bad_response' }, { code: 'upstream_unavailable' }],
    [{ kind: 'cancelled' }, { code: 'cancelled' }],
    [
      { kind: 'circuit_open', sent: 'no', retryAfterMs: 10 },
      { code: 'circuit_open', retry_after_ms: 10 },
    ],
    [{ kind: 'overloaded', sent: 'no' }, { code: 'overloaded' }],
    [{ kind: 'unexpected' }, { code: 'internal_error' }],
  ])('%o becomes %o', async (fault, expected) => {
    const error = await errorOf(fault);
    expect(error).toMatchObject(expected);
    expect(error?.message).not.toContain('secret');
    expect(error).not.toHaveProperty('outcome');
  });

  it('tells when the last exhausted window opens again', async () => {
    const limits = [
      { limit: 9, remaining: 0, reset: 1_700_000_000 },
      { limit: 9, remaining: 0, reset: 1_700_000_900 },
      { limit: 9, remaining: 4, reset: 1_800_000_000 },
    ];
    expect(await errorOf({ kind: 'rate_limited', limits })).toMatchObject({
      rate_limit_reset: new Date(1_700_000_900_000).toISOString(),
    });
  });

  it.each<[Partial<Fault> & Pick<Fault, 'kind'>, string, string]>([
    [{ kind: 'connect', sent: 'no' }, 'upstream_unavailable', 'not_executed'],
    [{ kind: 'circuit_open', sent: 'no' }, 'circuit_open', 'not_executed'],
    [{ kind: 'timeout', sent: 'no', clock: 'queue' }, 'timeout', 'not_executed'],
    [{ kind: 'rate_limited', sent: 'answered' }, 'rate_limited', 'not_executed'],
    [{ kind: 'auth', sent: 'answered' }, 'unauthorized', 'not_executed'],
    [{ kind: 'rejected', sent: 'answered', status: 422 }, 'upstream_rejected', 'not_executed'],
    [{ kind: 'network' }, 'outcome_unknown', 'unknown'],
    [{ kind: 'timeout', clock: 'attempt' }, 'outcome_unknown', 'unknown'],
    [{ kind: 'server', sent: 'answered', status: 500 }, 'outcome_unknown', 'unknown'],
    [{ kind: 'bad_response', sent: 'answered', status: 200 }, 'outcome_unknown', 'unknown'],
    [{ kind: 'cancelled' }, 'cancelled', 'unknown'],
    [{ kind: 'unexpected' }, 'internal_error', 'unknown'],
  ])('%o of a once tool is %s, %s', async (fault, code, outcome) => {
    const { effect, profiles } = acting;
    expect(await errorOf(fault, { effect, profiles })).toMatchObject({
      code,
      outcome,
      retryable: expect.any(Boolean),
    });
  });

  it('is read by the tool first', async () => {
    const faultToError = ({ status }: Fault) =>
      status === 402 ? toolError('upstream_rejected', 'Pay first.') : undefined;
    expect(await errorOf({ kind: 'rejected', status: 402 }, { faultToError })).toMatchObject({
      message: 'Pay first.',
    });
    expect(await errorOf({ kind: 'rejected', status: 404 }, { faultToError })).toMatchObject({
      code: 'not_found',
    });
  });

  it('keeps the outcome also when the tool reads it', async () => {
    const { effect, profiles } = acting;
    const faultToError = () => toolError('upstream_rejected', 'x');
    expect(
      await errorOf({ kind: 'rejected', status: 400 }, { effect, profiles, faultToError }),
    ).toMatchObject({ outcome: 'not_executed' });
  });

  it('reports its cause when nobody foresaw it', async () => {
    const cause = new Error('deep');
    const onUnexpected = vi.fn();
    await run(faulty({ kind: 'unexpected', cause }), { id: 'a' }, { onUnexpected });
    expect(onUnexpected.mock.calls[0]?.[0]).toBe(cause);
  });

  it('is recognised as cancellation when the caller aborted', async () => {
    const reason = new Error('user left');
    const { signal } = { signal: AbortSignal.abort(reason) };
    const rethrow = toolWith(() => {
      throw reason;
    });
    const native = toolWith(() => {
      throw new DOMException('x', 'AbortError');
    });
    const other = toolWith(() => {
      throw new Error('bug');
    });
    expect((await run(rethrow, { id: 'a' }, { signal })).error?.code).toBe('cancelled');
    expect((await run(native, { id: 'a' }, { signal })).error?.code).toBe('cancelled');
    expect((await run(other, { id: 'a' }, { signal })).error?.code).toBe('internal_error');
    expect((await run(rethrow, { id: 'a' })).error?.code).toBe('internal_error');
  });
});

describe('what stands around the handler', () => {
  const controlled = acceptControls(defineTool({ ...acting, account: 'main' }));

  it('sees the accepted call and the settled answer', async () => {
    const seen: unknown[] = [];
    const around: Around = async (call, next) => {
      const settled = await next();
      seen.push({ ...call, tool: call.tool.name }, settled);
      return settled;
    };
    const key = 'k'.repeat(16);
    const envelope = await run(
      controlled,
      { id: 'a', idempotency_key: key, allow_duplicate: true },
      { around, correlationId: 'c-1' },
    );
    expect(seen).toEqual([
      {
        tool: 'get_item',
        args: { id: 'a', limit: 10 },
        controls: { idempotencyKey: key, allowDuplicate: true },
        account: 'main',
        correlationId: 'c-1',
      },
      { ok: true, data: { id: 'a', n: 10 } },
    ]);
    expect(envelope.data).toEqual({ id: 'a', n: 10 });
  });

  it('is not asked about arguments that are refused', async () => {
    const around = vi.fn<Around>();
    await run(controlled, { id: 1 }, { around });
    await run(controlled, { id: 'a', idempotency_key: 'short' }, { around });
    expect(around).not.toHaveBeenCalled();
  });

  it('can answer in place of the handler, with the codes of policy and journal', async () => {
    const handler = vi.fn();
    const around: Around = () =>
      Promise.resolve({
        ok: false,
        error: { code: 'approval_required', message: 'Ask.', operationId: 'op_1' },
      });
    const { error } = await run({ ...controlled, handler }, { id: 'a' }, { around });
    expect(error).toEqual({
      code: 'approval_required',
      message: 'Ask.',
      retryable: false,
      policy_decision: 'routed_to_approval',
      outcome: 'not_executed',
      operation_id: 'op_1',
    });
    expect(handler).not.toHaveBeenCalled();
  });

  it('cannot answer a read with them', async () => {
    const around: Around = () =>
      Promise.resolve({ ok: false, error: { code: 'approval_required', message: 'Ask.' } });
    expect((await run(reading, { id: 'a' }, { around })).error?.code).toBe('internal_error');
  });

  it('cannot make an error that contradicts itself', async () => {
    const onUnexpected = vi.fn();
    const around = (() =>
      Promise.resolve({
        ok: false,
        error: { code: 'approval_required', message: 'x', outcome: 'executed' },
      })) as unknown as Around;
    expect((await run(controlled, { id: 'a' }, { around, onUnexpected })).error?.code).toBe(
      'internal_error',
    );
    expect(onUnexpected).toHaveBeenCalledOnce();
  });

  it('replays what was stored as JSON', async () => {
    const idempotency = {
      key: 'k'.repeat(16),
      replayed: true,
      first_at: '2026-01-01T00:00:00.000Z',
    };
    let stored = '';
    const storing: Around = async (_, next) => {
      const settled = await next();
      stored = JSON.stringify(settled);
      return settled;
    };
    const replaying: Around = () => Promise.resolve({ ...JSON.parse(stored), idempotency });
    const reset = new Date('2026-02-01T00:00:00Z');
    const failing = toolWith(
      () => toolError('not_found', 'Gone.', { rateLimitReset: reset }),
      acting,
    );
    for (const tool of [controlled, failing]) {
      const first = await run(tool, { id: 'a' }, { around: storing });
      const again = await run(tool, { id: 'a' }, { around: replaying });
      expect(again).toMatchObject({ data: first.data, meta: { idempotency } });
      expect(again.error).toEqual(first.error);
    }
  });

  it('can add the operation and an earlier deadline to the context', async () => {
    const operation = {
      id: 'op_1',
      sending: () => Promise.resolve({ token: 1 }),
      step: <T>(_: string, work: () => Promise<T>) => work(),
    };
    const tool = defineTool({
      ...acting,
      handler: async ({ id }, context) => {
        const fence = await context.operation?.sending();
        return { id: `${id}-${context.operation?.id}`, n: context.deadline + (fence?.token ?? 0) };
      },
    });
    const around: Around = (_, next) => next({ operation, deadline: 5 });
    expect((await run(tool, { id: 'a' }, { around, deadline: 100 })).data).toEqual({
      id: 'a-op_1',
      n: 6,
    });
  });

  it('gets the fault, which never reaches the answer', async () => {
    const fault: Fault = { kind: 'network', sent: 'maybe', cause: new Error('secret') };
    const tool = toolWith(() => {
      throw Object.assign(new Error('x'), { fault });
    }, acting);
    let seen: unknown;
    const around: Around = async (_, next) => {
      const settled = await next();
      seen = settled.ok ? undefined : settled.fault;
      return settled;
    };
    const { text } = await runTool(tool, { id: 'a' }, { around });
    expect(seen).toBe(fault);
    expect(text).not.toContain('secret');
  });
});

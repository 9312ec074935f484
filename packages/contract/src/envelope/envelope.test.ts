import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { some } from '../matchers.fixture.js';
import { onlyOutcomeOf } from '../codes/consistency.js';
import { codes, errorCodes, type ErrorCode } from '../codes/table.js';
import { errorEnvelope, successEnvelope, type ErrorEnvelope } from './envelope.js';
import { InconsistentErrorError, type ErrorInput } from './error.js';
import { InconsistentEnvelopeError } from './inconsistent.js';
import { meta, workflow } from './meta.fixture.js';
import { paginationInfo, rateLimitMeta, type MetaInput } from './meta.js';
import { envelopeSchema } from './schema.js';

describe('a success', () => {
  it('has data and meta, and nothing else', () => {
    expect(successEnvelope({ n: 1 }, meta)).toEqual({
      success: true,
      data: { n: 1 },
      meta: { tool_version: '1.0', elapsed_ms: 12, retry_count: 0, correlation_id: 'c-1' },
    });
  });

  it('cannot be changed afterwards', () => {
    const envelope = successEnvelope({ n: 1 }, meta);
    expect(Object.isFrozen(envelope) && Object.isFrozen(envelope.meta)).toBe(true);
  });
});

describe('an error', () => {
  it('carries every field of the contract under its name', () => {
    const error = {
      code: 'x_rate_limited',
      message: 'Wait a minute.',
      retryAfterMs: 60_999.2,
      rateLimitReset: new Date('2026-01-02T03:04:05Z'),
      outcome: 'not_executed',
      operationId: 'op_1',
      details: { scope: '15 min' },
    } as const;
    expect(errorEnvelope(error, meta)).toEqual({
      success: false,
      data: null,
      error: {
        code: 'x_rate_limited',
        message: 'Wait a minute.',
        retryable: true,
        retry_after_ms: 61_000,
        rate_limit_reset: '2026-01-02T03:04:05.000Z',
        outcome: 'not_executed',
        operation_id: 'op_1',
        details: { scope: '15 min' },
      },
      meta: some(Object),
    });
  });

  it('does not take retryable from anybody', () => {
    // @ts-expect-error -- there is no such option
    const claimed = errorEnvelope({ code: 'not_found', message: 'x', retryable: true }, meta);
    expect(claimed.error.retryable).toBe(false);
    expectTypeOf<ErrorEnvelope<'not_found'>['error']['retryable']>().toEqualTypeOf<false>();
  });

  it('does not take a policy decision from anybody', () => {
    const claimed = errorEnvelope(
      // @ts-expect-error -- there is no such option
      { code: 'timeout', message: 'x', policy_decision: 'denied' },
      meta,
    );
    expect(claimed.error).not.toHaveProperty('policy_decision');
  });

  it.each<[ErrorCode, string | undefined]>([
    ['policy_denied_blocked', 'denied'],
    ['policy_denied_rate_limited', 'denied'],
    ['policy_denied_hard_rule', 'denied'],
    ['policy_denied_user_rule', 'denied'],
    ['approval_denied', 'denied'],
    ['approval_required', 'routed_to_approval'],
    ['approval_expired', undefined],
    ['policy_error', undefined],
    ['forbidden', undefined],
  ])('%s says policy_decision %s', (code, decision) => {
    expect(errorEnvelope({ code, message: 'x' }, meta).error.policy_decision).toBe(decision);
  });

  it('refuses an outcome that its code contradicts', () => {
    const executed: ErrorInput<'approval_required'> = {
      code: 'approval_required',
      message: 'x',
      // @ts-expect-error -- what awaits approval was not executed
      outcome: 'executed',
    };
    expect(() => errorEnvelope(executed, meta)).toThrow(InconsistentErrorError);
    const known: ErrorInput<'outcome_unknown'> = {
      code: 'outcome_unknown',
      message: 'x',
      // @ts-expect-error -- unknown is unknown
      outcome: 'not_executed',
    };
    expect(() => errorEnvelope(known, meta)).toThrow('the outcome is unknown, not not_executed');
  });

  it('says unknown for outcome_unknown without being told', () => {
    expect(errorEnvelope({ code: 'outcome_unknown', message: 'x' }, meta).error.outcome).toBe(
      'unknown',
    );
  });

  it('refuses details of another code', () => {
    const wrong: ErrorInput<'timeout'> = {
      code: 'timeout',
      message: 'x',
      // @ts-expect-error -- a timeout names its clock
      details: { status: 500 },
    };
    expect(() => errorEnvelope(wrong, meta)).toThrow(
      'timeout: what stands at details.clock does not match',
    );
    const leak: ErrorInput<'internal_error'> = {
      code: 'internal_error',
      message: 'x',
      // @ts-expect-error -- internal_error has none, so that nothing leaks
      details: { stack: '' },
    };
    expect(() => errorEnvelope(leak, meta)).toThrow('carries no details');
  });

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('refuses a wait of %s', (retryAfterMs) => {
    expect(() => errorEnvelope({ code: 'timeout', message: 'x', retryAfterMs }, meta)).toThrow(
      'retryAfterMs',
    );
  });

  it('refuses what is not a date, a message or a code', () => {
    const error = { code: 'timeout', message: 'x' } as const;
    expect(() => errorEnvelope({ ...error, rateLimitReset: 'soon' }, meta)).toThrow('not a date');
    expect(() => errorEnvelope({ ...error, message: ' ' }, meta)).toThrow('needs a message');
    // @ts-expect-error -- no such code
    expect(() => errorEnvelope({ code: 'toString', message: 'x' }, meta)).toThrow(
      'unknown error code',
    );
  });

  it('has a message that every wire can carry', () => {
    const { message } = errorEnvelope({ code: 'timeout', message: 'a\uD800b😀' }, meta).error;
    expect(message).toBe('a\uFFFDb😀');
  });

  it('bounds its message without cutting a character in half', () => {
    const { message } = errorEnvelope({ code: 'timeout', message: '😀'.repeat(5000) }, meta).error;
    expect(message.length).toBeLessThanOrEqual(2000);
    expect(message).toMatch(/^(?:😀)+…$/u);
  });
});

describe('meta', () => {
  it('has mode and approval_mode in the workflow profile, always', () => {
    expect(successEnvelope(1, workflow).meta).toMatchObject({
      mode: 'composer',
      approval_mode: true,
    });
  });

  it('has neither in api and readonly, never', () => {
    const smuggled: MetaInput = {
      ...meta,
      // @ts-expect-error -- only workflow has a mode
      profile: { name: 'api', mode: 'composer', approvalMode: true },
    };
    for (const input of [meta, smuggled, { ...meta, profile: { name: 'readonly' } } as const]) {
      expect(Object.keys(successEnvelope(1, input).meta)).not.toContain('mode');
      expect(Object.keys(successEnvelope(1, input).meta)).not.toContain('approval_mode');
    }
  });

  it('cannot be made for workflow without a mode', () => {
    // @ts-expect-error -- workflow always has a mode
    const incomplete: MetaInput = { ...meta, profile: { name: 'workflow' } };
    expect(() => successEnvelope(1, incomplete)).toThrow('mode');
  });

  it('derives has_more from the token', () => {
    expect(paginationInfo(3)).toEqual({ result_count: 3, has_more: false });
    expect(paginationInfo(3, 't')).toEqual({ next_token: 't', result_count: 3, has_more: true });
  });

  it('shows a reset as a time', () => {
    expect(rateLimitMeta({ limit: 300, remaining: 12, reset: 1_700_000_000 })).toEqual({
      limit: 300,
      remaining: 12,
      reset: '2023-11-14T22:13:20.000Z',
    });
  });

  it.each([Number.NaN, -5, Number.POSITIVE_INFINITY])(
    'survives an elapsed time of %s',
    (elapsedMs) => {
      expect(successEnvelope(1, { ...meta, elapsedMs }).meta.elapsed_ms).toBe(0);
    },
  );
});

describe('what would not match the schema is refused when it is made, naming the field', () => {
  const error = { code: 'timeout', message: 'x' } as const;
  const limit = { limit: 9, remaining: 1, reset: '2026-01-01T00:00:00.000Z' };
  it.each<[string, () => unknown]>([
    ['data', () => successEnvelope(undefined, meta)],
    ['data', () => successEnvelope(() => 1, meta)],
    ['data', () => successEnvelope(1n, meta)],
    ['data', () => successEnvelope({ at: new Date() }, meta)],
    ['data', () => errorEnvelope(error, meta, Symbol('x'))],
    [
      'data',
      () => {
        const data = {
          get n() {
            throw new Error('secret');
          },
        };
        return successEnvelope(data, meta);
      },
    ],
    ['pagination.result_count', () => paginationInfo(-1, 't')],
    ['pagination.result_count', () => paginationInfo(1.5)],
    ['pagination.next_token', () => paginationInfo(1, '')],
    ['pagination.next_token', () => paginationInfo(1, null as never)],
    [
      'pagination.has_more',
      // @ts-expect-error -- there is more exactly when there is a token
      () => successEnvelope([], { ...meta, pagination: { result_count: 1, has_more: true } }),
    ],
    [
      'pagination.has_more',
      () => {
        const pagination = { next_token: 't', result_count: 1, has_more: false } as const;
        // @ts-expect-error -- there is more exactly when there is a token
        return successEnvelope([], { ...meta, pagination });
      },
    ],
    ['pagination', () => successEnvelope([], { ...meta, pagination: 5 as never })],
    ['correlationId', () => successEnvelope(1, { ...meta, correlationId: '' })],
    ['correlationId', () => successEnvelope(1, { ...meta, correlationId: 5 as never })],
    ['toolVersion', () => successEnvelope(1, { ...meta, toolVersion: 1 as never })],
    ['profile', () => successEnvelope(1, { ...meta, profile: { name: 'root' } as never })],
    ['profile', () => successEnvelope(1, { ...meta, profile: null as never })],
    ['meta', () => successEnvelope(1, undefined as never)],
    [
      'rateLimit.limit',
      () => successEnvelope(1, { ...meta, rateLimit: { ...limit, limit: Number.NaN } }),
    ],
    [
      'rateLimit.remaining',
      () => successEnvelope(1, { ...meta, rateLimit: { ...limit, remaining: '1' as never } }),
    ],
    [
      'rateLimit.reset',
      () => successEnvelope(1, { ...meta, rateLimit: { ...limit, reset: 'soon' } }),
    ],
    ['rateLimit.reset', () => rateLimitMeta({ limit: 1, remaining: 1, reset: Number.NaN })],
    ['rateLimit.reset', () => rateLimitMeta({ limit: 1, remaining: 1, reset: 1e12 })],
    ['rateLimit', () => successEnvelope(1, { ...meta, rateLimit: null as never })],
    [
      'idempotency.key',
      () => successEnvelope(1, { ...meta, idempotency: { key: 5 as never, replayed: true } }),
    ],
    ['idempotency.replayed', () => successEnvelope(1, { ...meta, idempotency: {} as never })],
    [
      'idempotency.first_at',
      () => successEnvelope(1, { ...meta, idempotency: { replayed: true, first_at: 'once' } }),
    ],
    ['outcome', () => errorEnvelope({ ...error, outcome: 'maybe' as never }, meta)],
    ['operationId', () => errorEnvelope({ ...error, operationId: 5 as never }, meta)],
    ['retryAfterMs', () => errorEnvelope({ ...error, retryAfterMs: '5' as never }, meta)],
    ['retryAfterMs', () => errorEnvelope({ ...error, retryAfterMs: 5n as never }, meta)],
    ['rateLimitReset', () => errorEnvelope({ ...error, rateLimitReset: 5 as never }, meta)],
    ['rateLimitReset', () => errorEnvelope({ ...error, rateLimitReset: new Date(8e15) }, meta)],
    ['error code', () => errorEnvelope({ ...error, code: Object.create(null) as never }, meta)],
    ['an error', () => errorEnvelope(null as never, meta)],
  ])('%s (%#)', (field, make) => {
    expect(make).toThrow(InconsistentEnvelopeError);
    expect(make).toThrow(field);
  });

  it('copies what it takes, so that a later change cannot break it', () => {
    const rateLimit = { ...limit };
    const { rate_limit: shown } = successEnvelope(1, { ...meta, rateLimit }).meta;
    rateLimit.limit = Number.NaN;
    expect(shown).toEqual(limit);
    expect(Object.isFrozen(shown)).toBe(true);
  });

  it('writes moments in one way', () => {
    const rateLimit = { ...limit, reset: '2026-01-01T01:00:00+01:00' };
    expect(successEnvelope(1, { ...meta, rateLimit }).meta.rate_limit?.reset).toBe(limit.reset);
  });

  it('tells by its type that a page which has more has a token', () => {
    const { pagination } = successEnvelope([], {
      ...meta,
      pagination: paginationInfo(1, 't'),
    }).meta;
    if (pagination?.has_more) expectTypeOf(pagination.next_token).toEqualTypeOf<string>();
    expect(pagination?.has_more).toBe(true);
  });
});

describe('whatever is given to the constructors', () => {
  const anything = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withSparseArray: true,
  });
  const near = (...values: unknown[]) =>
    fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(...values) },
      { weight: 1, arbitrary: anything },
    );
  const moments = near(
    '2026-01-01T00:00:00.000Z',
    'soon',
    '',
    new Date(8e15),
    new Date(Number.NaN),
  );
  const numbers = near(0, 1, 2, 3, 0.5, -1, Number.NaN, Number.POSITIVE_INFINITY, '5', 5n);
  const texts = near('x', 'y', '\uD800', '');
  /** Left out most of the time, so that one odd field does not always hide behind another. */
  const rarely = (arbitrary: fc.Arbitrary<unknown>) =>
    fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
  const metas = fc.oneof(
    { weight: 1, arbitrary: anything },
    {
      weight: 9,
      arbitrary: fc.record({
        toolVersion: near('1.0'),
        elapsedMs: numbers,
        retryCount: numbers,
        correlationId: near('c', 'd', ''),
        profile: near(meta.profile, workflow.profile, { name: 'workflow' }),
        pagination: rarely(
          fc.record({
            next_token: rarely(texts),
            result_count: numbers,
            has_more: near(true, false),
          }),
        ),
        rateLimit: rarely(fc.record({ limit: numbers, remaining: numbers, reset: moments })),
        idempotency: rarely(
          fc.record({
            key: rarely(texts),
            replayed: near(true, false),
            first_at: rarely(moments),
            more: anything,
          }),
        ),
      }),
    },
  );
  const errors = fc.oneof(
    { weight: 1, arbitrary: anything },
    {
      weight: 9,
      arbitrary: fc.record({
        code: near(...errorCodes),
        message: texts,
        retryAfterMs: rarely(numbers),
        rateLimitReset: rarely(moments),
        outcome: rarely(near('executed', 'not_executed', 'unknown', 'maybe')),
        operationId: rarely(texts),
        details: rarely(near({}, { clock: 'x' }, { status: 500 }, { first_at: 'soon' })),
      }),
    },
  );
  const check = (make: () => unknown): boolean => {
    let envelope: unknown;
    try {
      envelope = make();
    } catch (refusal) {
      expect(refusal).toBeInstanceOf(InconsistentEnvelopeError);
      return false;
    }
    expect(envelopeSchema.safeParse(envelope).error).toBeUndefined();
    expect(envelopeSchema.safeParse(JSON.parse(JSON.stringify(envelope))).error).toBeUndefined();
    return true;
  };

  it('gives an envelope that the schema accepts, or the typed refusal', () => {
    const accepted = [0, 0];
    fc.assert(
      fc.property(errors, metas, fc.oneof(fc.jsonValue(), anything), (error, input, data) => {
        const success = check(() => successEnvelope(data, input as MetaInput));
        const failure = check(() => errorEnvelope(error as ErrorInput, meta, data));
        check(() => errorEnvelope(error as ErrorInput, input as MetaInput));
        accepted[0]! += Number(success);
        accepted[1]! += Number(failure);
      }),
      { numRuns: 1000 },
    );
    // A test that only sees refusals would show nothing.
    expect(Math.min(...accepted)).toBeGreaterThan(100);
  });

  it('holds for pages and limits alone too', () => {
    fc.assert(
      fc.property(numbers, texts, moments, (count, token, reset) => {
        check(() =>
          successEnvelope([], {
            ...meta,
            pagination: paginationInfo(count as number, token as string),
          }),
        );
        const info = { limit: count, remaining: count, reset } as never;
        check(() => successEnvelope([], { ...meta, rateLimit: rateLimitMeta(info) }));
      }),
    );
  });
});

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

  it('accepts whatever the constructors make', () => {
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

  it('constructors and schema agree on which outcome goes with which code', () => {
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
  ])('refuses %s', (_, envelope) => {
    expect(envelopeSchema.safeParse(envelope).success).toBe(false);
  });

  it('refuses the flag of every code when it is turned around', () => {
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

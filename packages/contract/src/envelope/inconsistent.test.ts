import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { errorCodes } from '../codes/table.js';
import { errorEnvelope, successEnvelope } from './envelope.js';
import { type ErrorInput, InconsistentEnvelopeError } from './error.js';
import { meta, workflow } from './meta.fixture.js';
import { paginationInfo, rateLimitMeta, type MetaInput } from './meta.js';
import { envelopeSchema } from './schema.js';

describe('constructors reject values that the schema does not allow, naming the field', () => {
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

  it('copies its input', () => {
    const rateLimit = { ...limit };
    const { rate_limit: shown } = successEnvelope(1, { ...meta, rateLimit }).meta;
    rateLimit.limit = Number.NaN;
    expect(shown).toEqual(limit);
    expect(Object.isFrozen(shown)).toBe(true);
  });

  it('normalises times', () => {
    const rateLimit = { ...limit, reset: '2026-01-01T01:00:00+01:00' };
    expect(successEnvelope(1, { ...meta, rateLimit }).meta.rate_limit?.reset).toBe(limit.reset);
  });

  it('has a type in which has_more implies next_token', () => {
    const { pagination } = successEnvelope([], {
      ...meta,
      pagination: paginationInfo(1, 't'),
    }).meta;
    if (pagination?.has_more) expectTypeOf(pagination.next_token).toEqualTypeOf<string>();
    expect(pagination?.has_more).toBe(true);
  });
});

describe('constructors with random input', () => {
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

  it('return a valid envelope or throw the typed error', () => {
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
    expect(Math.min(...accepted)).toBeGreaterThan(50);
  });

  it('do so for pagination and rate limits too', () => {
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

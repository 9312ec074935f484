import { describe, expect, expectTypeOf, it } from 'vitest';
import { some } from '../matchers.fixture.js';
import type { ErrorCode } from '../codes/table.js';
import { errorEnvelope, successEnvelope, type ErrorEnvelope } from './envelope.js';
import { InconsistentErrorError, type ErrorInput } from './error.js';
import { meta, workflow } from './meta.fixture.js';
import { paginationInfo, rateLimitMeta, type MetaInput } from './meta.js';

describe('a success', () => {
  it('has data and meta, and nothing else', () => {
    expect(successEnvelope({ n: 1 }, meta)).toEqual({
      success: true,
      data: { n: 1 },
      meta: { tool_version: '1.0', elapsed_ms: 12, retry_count: 0, correlation_id: 'c-1' },
    });
  });

  it('is frozen', () => {
    const envelope = successEnvelope({ n: 1 }, meta);
    expect(Object.isFrozen(envelope) && Object.isFrozen(envelope.meta)).toBe(true);
  });
});

describe('an error', () => {
  it('is deeply frozen and does not freeze its input', () => {
    const issues = [{ field: 'a', message: 'is missing' }];
    const details = { issues };
    const input = { code: 'validation_error', message: 'x', details } as const;
    const { error } = errorEnvelope(input, meta);
    for (const part of [error, error.details, error.details?.issues, error.details?.issues[0]])
      expect(Object.isFrozen(part)).toBe(true);
    expect([details, issues, issues[0]].some((part) => Object.isFrozen(part))).toBe(false);
  });

  it('has every field of the contract', () => {
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

  it('ignores a given retryable', () => {
    // @ts-expect-error -- there is no such option
    const claimed = errorEnvelope({ code: 'not_found', message: 'x', retryable: true }, meta);
    expect(claimed.error.retryable).toBe(false);
    expectTypeOf<ErrorEnvelope<'not_found'>['error']['retryable']>().toEqualTypeOf<false>();
  });

  it('ignores a given policy decision', () => {
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
  ])('%s has policy_decision %s', (code, decision) => {
    expect(errorEnvelope({ code, message: 'x' }, meta).error.policy_decision).toBe(decision);
  });

  it('rejects an outcome that its code does not allow', () => {
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

  it('implies unknown for outcome_unknown', () => {
    expect(errorEnvelope({ code: 'outcome_unknown', message: 'x' }, meta).error.outcome).toBe(
      'unknown',
    );
  });

  it('rejects details of another code', () => {
    const wrong: ErrorInput<'timeout'> = {
      code: 'timeout',
      message: 'x',
      // @ts-expect-error -- a timeout names its clock
      details: { status: 500 },
    };
    expect(() => errorEnvelope(wrong, meta)).toThrow('timeout: details.clock is invalid');
    const leak: ErrorInput<'internal_error'> = {
      code: 'internal_error',
      message: 'x',
      // @ts-expect-error -- internal_error has none, so that nothing leaks
      details: { stack: '' },
    };
    expect(() => errorEnvelope(leak, meta)).toThrow('has no details');
  });

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('rejects a delay of %s', (retryAfterMs) => {
    expect(() => errorEnvelope({ code: 'timeout', message: 'x', retryAfterMs }, meta)).toThrow(
      'retryAfterMs',
    );
  });

  it('rejects an invalid date, message or code', () => {
    const error = { code: 'timeout', message: 'x' } as const;
    expect(() => errorEnvelope({ ...error, rateLimitReset: 'soon' }, meta)).toThrow('not a date');
    expect(() => errorEnvelope({ ...error, message: ' ' }, meta)).toThrow('needs a message');
    expect(() => errorEnvelope({ code: 'toString', message: 'x' }, meta)).toThrow(
      'unknown error code',
    );
  });

  it('has a well-formed message', () => {
    const { message } = errorEnvelope({ code: 'timeout', message: 'a\uD800b😀' }, meta).error;
    expect(message).toBe('a\uFFFDb😀');
  });

  it('truncates its message between characters', () => {
    const { message } = errorEnvelope({ code: 'timeout', message: '😀'.repeat(5000) }, meta).error;
    expect(message.length).toBeLessThanOrEqual(2000);
    expect(message).toMatch(/^(?:😀)+…$/u);
  });
});

describe('meta', () => {
  it('has mode and approval_mode in the workflow profile', () => {
    expect(successEnvelope(1, workflow).meta).toMatchObject({
      mode: 'composer',
      approval_mode: true,
    });
  });

  it('has no mode in api and readonly', () => {
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

  it('requires a mode for workflow', () => {
    // @ts-expect-error -- workflow always has a mode
    const incomplete: MetaInput = { ...meta, profile: { name: 'workflow' } };
    expect(() => successEnvelope(1, incomplete)).toThrow('mode');
  });

  it('derives has_more from the token', () => {
    expect(paginationInfo(3)).toEqual({ result_count: 3, has_more: false });
    expect(paginationInfo(3, 't')).toEqual({ next_token: 't', result_count: 3, has_more: true });
  });

  it('formats a reset as a time', () => {
    expect(rateLimitMeta({ limit: 300, remaining: 12, reset: 1_700_000_000 })).toEqual({
      limit: 300,
      remaining: 12,
      reset: '2023-11-14T22:13:20.000Z',
    });
  });

  it.each([Number.NaN, -5, Number.POSITIVE_INFINITY])(
    'accepts an elapsed time of %s',
    (elapsedMs) => {
      expect(successEnvelope(1, { ...meta, elapsedMs }).meta.elapsed_ms).toBe(0);
    },
  );
});

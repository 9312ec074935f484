import { describe, expect, it } from 'vitest';
import { errorCodes } from '../codes/table.js';
import { errorEnvelope } from './envelope.js';
import type { ErrorInput } from './error.js';
import { toolFailure } from './tool-failure.js';

const meta = {
  toolVersion: '1.0',
  elapsedMs: 1,
  retryCount: 0,
  correlationId: 'c-1',
  profile: { name: 'api' },
} as const;
const now = Date.parse('2026-01-01T00:00:00Z');
const failureOf = (error: ErrorInput) => toolFailure(errorEnvelope(error, meta), now);

describe('toolFailure', () => {
  it('has class, code, retryable and correlation id', () => {
    expect(failureOf({ code: 'approval_required', message: 'x' })).toEqual({
      class: 'governance',
      code: 'approval_required',
      retryable: false,
      correlationId: 'c-1',
    });
  });

  it('has the class that was assigned to each code', () => {
    const ofClass = (name: string) =>
      errorCodes.filter((code) => failureOf({ code, message: 'x' }).class === name).toSorted();
    const names = ['capability', 'governance', 'reliability'];
    expect(Object.fromEntries(names.map((name) => [name, ofClass(name)]))).toEqual({
      governance: [
        'approval_denied',
        'approval_expired',
        'approval_required',
        'dry_run',
        'forbidden',
        'policy_denied_blocked',
        'policy_denied_hard_rule',
        'policy_denied_rate_limited',
        'policy_denied_user_rule',
        'unauthorized',
        'x_account_restricted',
        'x_auth_expired',
        'x_forbidden',
      ],
      reliability: [
        'cancelled',
        'circuit_open',
        'context_error',
        'db_error',
        'idempotency_in_flight',
        'internal_error',
        'llm_error',
        'media_upload_error',
        'outcome_unknown',
        'overloaded',
        'policy_error',
        'rate_limited',
        'recommendation_error',
        'serialization_error',
        'thread_partial_failure',
        'timeout',
        'topic_error',
        'upstream_unavailable',
        'x_api_error',
        'x_network_error',
        'x_rate_limited',
      ],
      capability: [
        'file_read_error',
        'idempotency_conflict',
        'invalid_input',
        'llm_not_configured',
        'not_found',
        'response_too_large',
        'tweet_too_long',
        'unsupported_by_upstream',
        'unsupported_media_type',
        'upstream_rejected',
        'validation_error',
        'x_not_configured',
      ],
    });
  });

  it('converts a delay to a time', () => {
    expect(failureOf({ code: 'rate_limited', message: 'x', retryAfterMs: 61_000 })).toMatchObject({
      class: 'reliability',
      retryNotBefore: '2026-01-01T00:01:01.000Z',
    });
  });

  it('uses the reset without a delay, and prefers the delay', () => {
    const rateLimitReset = new Date('2026-01-01T00:15:00Z');
    const error = { code: 'rate_limited', message: 'x', rateLimitReset } as const;
    expect(failureOf(error).retryNotBefore).toBe('2026-01-01T00:15:00.000Z');
    expect(failureOf({ ...error, retryAfterMs: 0 }).retryNotBefore).toBe(
      '2026-01-01T00:00:00.000Z',
    );
  });

  it('ignores a delay beyond the range of dates', () => {
    const error = {
      code: 'rate_limited',
      message: 'x',
      retryAfterMs: Number.MAX_SAFE_INTEGER,
    } as const;
    expect(failureOf(error)).not.toHaveProperty('retryNotBefore');
  });

  it('has no time for non-retryable codes', () => {
    const denied = failureOf({ code: 'policy_denied_rate_limited', message: 'x', retryAfterMs: 5 });
    expect(denied).not.toHaveProperty('retryNotBefore');
  });

  it('has a class for every code', () => {
    for (const code of errorCodes) {
      expect(['capability', 'reliability', 'governance']).toContain(
        failureOf({ code, message: 'x' }).class,
      );
    }
  });
});

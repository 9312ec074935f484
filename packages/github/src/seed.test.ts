/** Every example of the rate-limit and retry interface that the client implements, with its numbers. */
import { VirtualClock } from '@toolkeel/kernel/testing';
import { describe, expect, it } from 'vitest';
import {
  apiError,
  apiErrorKind,
  calculateBackoff,
  calculateRateLimitDelay,
  checkRateLimit,
  definePolicy,
  executeWithRetry,
  parseRateLimitHeaders,
  shouldRetry,
} from './index.js';

describe('the retry interface of the GitHub client', () => {
  it('RetryPolicy::default: 3 retries, 1 s, 60 s, ×2', () => {
    expect(definePolicy()).toMatchObject({
      maxRetries: 3,
      initialBackoffMs: 1000,
      maxBackoffMs: 60_000,
      backoffMultiplier: 2,
    });
  });

  it('should_retry(Timeout, 0) retries', () => {
    const decision = shouldRetry(apiError.timeout(), 0, definePolicy());
    expect(decision).toEqual({ retry: true, afterMs: 1000 });
  });

  it('should_retry stops above max_retries', () => {
    expect(shouldRetry(apiError.timeout(), 3, definePolicy()).retry).toBe(false);
  });

  it('calculate_backoff(0) is 1000 ms, (1) is 2000 ms, capped at 60 s', () => {
    const policy = definePolicy();
    expect([0, 1, 9].map((attempt) => calculateBackoff(attempt, policy))).toEqual([
      1000, 2000, 60_000,
    ]);
  });

  it('calculate_rate_limit_delay of a reset in 60 s is at most 61 s; of a past one 0', () => {
    const reset = Math.floor(Date.now() / 1000) + 60;
    expect(calculateRateLimitDelay(reset)).toBeLessThanOrEqual(61_000);
    expect(calculateRateLimitDelay(reset - 3600)).toBe(0);
  });

  it('parse_rate_limit_headers reads 5000, 4999, 1234567890', () => {
    const headers = new Headers([
      ['x-ratelimit-limit', '5000'],
      ['x-ratelimit-remaining', '4999'],
      ['x-ratelimit-reset', '1234567890'],
    ]);
    expect(parseRateLimitHeaders(headers)).toEqual({
      limit: 5000,
      remaining: 4999,
      reset: 1_234_567_890,
    });
    expect(parseRateLimitHeaders(new Headers([['x-ratelimit-limit', 'many']]))).toBeUndefined();
  });

  it('check_rate_limit recommends a delay below 10 remaining', () => {
    const info = { limit: 5000, reset: 1000 };
    expect(checkRateLimit({ ...info, remaining: 9 }, undefined, 990_000)).toBe(10_000);
    expect(checkRateLimit({ ...info, remaining: 10 }, undefined, 990_000)).toBeUndefined();
  });

  it('execute_with_retry retries, then returns the result', async () => {
    const clock = new VirtualClock();
    let calls = 0;
    const operation = async (): Promise<string> => {
      calls += 1;
      if (calls < 3) throw Object.assign(new Error('no'), { status: 502 });
      return 'ok';
    };
    expect(await clock.run(executeWithRetry(operation, definePolicy(), { clock }))).toBe('ok');
    expect([calls, clock.now()]).toEqual([3, 3000]);
  });

  it('a custom policy: 5, 500 ms, 30 s, ×1.5', () => {
    const numbers = {
      maxRetries: 5,
      initialBackoffMs: 500,
      maxBackoffMs: 30_000,
      backoffMultiplier: 1.5,
    };
    expect(shouldRetry(apiError.timeout(), 0, definePolicy(numbers))).toEqual({
      retry: true,
      afterMs: 500,
    });
  });

  it.each([
    ['Timeout', apiError.timeout(), true],
    ['HttpClientError', apiError.httpClientError(), true],
    ['HttpError 500', apiError.httpError(500), true],
    ['HttpError 502', apiError.httpError(502), true],
    ['HttpError 503', apiError.httpError(503), true],
    ['HttpError 504', apiError.httpError(504), true],
    ['HttpError 429', apiError.httpError(429), true],
    ['RateLimitExceeded', apiError.rateLimitExceeded(), true],
    ['NotFound', apiError.notFound(), false],
    ['PermissionDenied', apiError.permissionDenied(), false],
    ['ValidationError', apiError.validationError(), false],
    ['HttpError 400', apiError.httpError(400), false],
  ] as const)('%s: retried %s', (_, fault, isRetried) => {
    expect(shouldRetry(fault, 0, definePolicy()).retry).toBe(isRetried);
  });

  it('RateLimitExceeded carries reset_at, and is retried after it', () => {
    const now = 1_000_000;
    const resetAt = new Date(now + 30_000);
    const fault = apiError.rateLimitExceeded(resetAt);
    expect(shouldRetry(fault, 0, definePolicy(), { now })).toEqual({
      retry: true,
      afterMs: 30_000,
    });
    expect(apiErrorKind(fault)).toEqual({ kind: 'RateLimitExceeded', resetAt });
  });

  it.each([
    [apiError.timeout(), { kind: 'Timeout' }],
    [apiError.httpClientError(), { kind: 'HttpClientError' }],
    [apiError.httpError(502), { kind: 'HttpError', status: 502 }],
    [apiError.notFound(), { kind: 'NotFound' }],
    [apiError.permissionDenied(), { kind: 'PermissionDenied' }],
    [apiError.validationError(), { kind: 'ValidationError' }],
  ] as const)('names the kind of a fault', (fault, kind) => {
    expect(apiErrorKind(fault)).toEqual(kind);
  });
});

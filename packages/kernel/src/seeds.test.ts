/**
 * Every example of the retry interface that the kernel grew from (the GitHub client's), executed;
 * names are in camelCase and durations in milliseconds.
 */
import { describe, expect, it } from 'vitest';
import {
  calculateBackoff,
  calculateRateLimitDelay,
  checkRateLimit,
  definePolicy,
  executeWithRetry,
  FaultError,
  parseRateLimitHeaders,
  shouldRetry,
} from './index.js';
import { fault, VirtualClock } from './testing/index.js';

describe('the retry interface of the GitHub client', () => {
  it('should_retry: a timeout at attempt 0 is retried', () => {
    expect(shouldRetry(fault('timeout'), 0, definePolicy()).retry).toBe(true);
  });

  it('should_retry: takes the four numbers of a policy and no more', () => {
    const numbers = {
      maxRetries: 1,
      initialBackoffMs: 500,
      maxBackoffMs: 5000,
      backoffMultiplier: 2,
    };
    expect(shouldRetry(fault('server'), 0, numbers)).toEqual({ retry: true, afterMs: 500 });
    expect(shouldRetry(fault('rate_limited', { retryAfterMs: 9 }), 0, numbers).retry).toBe(true);
  });

  it('calculate_backoff: 1000 ms, then 2000 ms', () => {
    expect(calculateBackoff(0, definePolicy())).toBe(1000);
    expect(calculateBackoff(1, definePolicy())).toBe(2000);
  });

  it('calculate_rate_limit_delay: a reset in 60 s is at most 61 s away, a past one 0', () => {
    const reset = Math.floor(Date.now() / 1000) + 60;
    expect(calculateRateLimitDelay(reset)).toBeLessThanOrEqual(61_000);
    expect(calculateRateLimitDelay(reset)).toBeGreaterThan(58_000);
    expect(calculateRateLimitDelay(reset - 120)).toBe(0);
  });

  it('parse_rate_limit_headers: 5000, 4999, 1234567890', () => {
    const info = parseRateLimitHeaders(
      new Headers({
        'x-ratelimit-limit': '5000',
        'x-ratelimit-remaining': '4999',
        'x-ratelimit-reset': '1234567890',
      }),
    );
    expect(info).toEqual({ limit: 5000, remaining: 4999, reset: 1_234_567_890 });
    expect(parseRateLimitHeaders(new Headers())).toBeUndefined();
  });

  it('check_rate_limit: a delay below the threshold of 10, none above', () => {
    const reset = 1000;
    expect(checkRateLimit({ limit: 5000, remaining: 9, reset }, undefined, 990_000)).toBe(10_000);
    expect(
      checkRateLimit({ limit: 5000, remaining: 10, reset }, undefined, 990_000),
    ).toBeUndefined();
  });

  it('a custom policy: 5 retries, 500 ms, 30 s, ×1.5', () => {
    const policy = definePolicy({
      maxRetries: 5,
      initialBackoffMs: 500,
      maxBackoffMs: 30_000,
      backoffMultiplier: 1.5,
    });
    expect(shouldRetry(fault('server'), 4, policy)).toEqual({ retry: true, afterMs: 2531.25 });
    expect(shouldRetry(fault('server'), 5, policy)).toEqual({ retry: false, reason: 'exhausted' });
  });

  it('a manual check returns the delay', () => {
    expect(shouldRetry(fault('timeout'), 0, definePolicy())).toEqual({
      retry: true,
      afterMs: 1000,
    });
  });

  it.each(['timeout', 'network', 'connect'] as const)('retries %s with backoff', (kind) => {
    expect(shouldRetry(fault(kind), 1, definePolicy())).toEqual({ retry: true, afterMs: 2000 });
  });

  it.each([500, 502, 503, 504])('retries status %i with backoff', (status) => {
    expect(shouldRetry(fault('server', { status }), 0, definePolicy()).retry).toBe(true);
  });

  it.each([400, 403, 404, 422])('never retries status %i', (status) => {
    expect(shouldRetry(fault('rejected', { status }), 0, definePolicy()).retry).toBe(false);
  });

  it('retries a rate limit after its reset', () => {
    const now = 1_000_000;
    const limits = [{ limit: 60, remaining: 0, reset: 1030 }];
    expect(shouldRetry(fault('rate_limited', { limits }), 0, definePolicy(), { now })).toEqual({
      retry: true,
      afterMs: 30_000,
    });
  });
});

describe('execute_with_retry', () => {
  const run = <T>(clock: VirtualClock, operation: () => Promise<T>): Promise<T> =>
    clock.run(executeWithRetry(operation, {}, { clock }));

  it('returns the result after the policy’s delays', async () => {
    const clock = new VirtualClock();
    const at: number[] = [];
    const result = await run(clock, async () => {
      at.push(clock.now());
      if (at.length < 3) throw new FaultError(fault('server'));
      return 'ok';
    });
    expect(result).toBe('ok');
    expect(at).toEqual([0, 1000, 3000]);
  });

  it('throws the last error unchanged after 1 + 3 attempts', async () => {
    const clock = new VirtualClock();
    const errors: Error[] = [];
    const thrown = await run(clock, async () => {
      const error = Object.assign(new Error(`no. ${errors.length}`), { code: 'ECONNRESET' });
      errors.push(error);
      throw error;
    }).catch((error: unknown) => error);
    expect(errors).toHaveLength(4);
    expect(thrown).toBe(errors[3]);
    expect(clock.now()).toBe(7000);
  });

  it('does not retry permanent faults', async () => {
    const clock = new VirtualClock();
    let calls = 0;
    const missing = Object.assign(new Error('Not Found'), { status: 404 });
    const call = run(clock, async () => {
      calls++;
      throw missing;
    });
    await expect(call).rejects.toBe(missing);
    expect(calls).toBe(1);
  });

  it('does not repeat an operation with effect once', async () => {
    const clock = new VirtualClock();
    let calls = 0;
    const post = executeWithRetry(
      async () => {
        calls++;
        throw Object.assign(new Error(), { status: 503 });
      },
      {},
      { clock, effect: 'once' },
    );
    await expect(clock.run(post)).rejects.toMatchObject({ status: 503 });
    expect(calls).toBe(1);
  });

  it('throws the abort reason when aborted during a backoff', async () => {
    const clock = new VirtualClock();
    const controller = new AbortController();
    const call = executeWithRetry(
      () => Promise.reject(new FaultError(fault('server'))),
      {},
      {
        clock,
        signal: controller.signal,
      },
    );
    const ended = call.catch((reason: unknown) => reason);
    await clock.advance(500);
    controller.abort('stop');
    expect(await ended).toBe('stop');
    expect(clock.now()).toBe(500);
  });

  it('throws a timeout at the deadline, not an earlier error', async () => {
    const clock = new VirtualClock();
    let calls = 0;
    const operation = (): Promise<string> =>
      calls++ === 0 ? Promise.reject(new FaultError(fault('server'))) : new Promise(() => {});
    const call = executeWithRetry(operation, {}, { clock, timeoutMs: 5000 });
    await expect(clock.run(call)).rejects.toMatchObject({
      fault: { kind: 'timeout', clock: 'deadline' },
    });
    const hanging = executeWithRetry(() => new Promise(() => {}), {}, { clock, timeoutMs: 30 });
    await expect(clock.run(hanging)).rejects.toMatchObject({ name: 'FaultError' });
  });
});

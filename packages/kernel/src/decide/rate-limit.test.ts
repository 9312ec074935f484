import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_PLAUSIBLE_WAIT_MS } from '../hints/numbers.js';
import { calculateRateLimitDelay, checkRateLimit, parseRateLimitHeaders } from './rate-limit.js';

const now = 1_700_000_000_000;
const nowSeconds = now / 1000;

const anyNumber = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.constantFrom(Number.NaN, Infinity, -Infinity, -0, Number.MAX_VALUE, now, now + 60_000),
  fc.integer({ min: -200_000, max: 200_000 }).map((delta) => nowSeconds + delta),
);

describe('calculateRateLimitDelay', () => {
  it("is at most 61 s for a reset in 60 s, as in the seed's example", () => {
    const delay = calculateRateLimitDelay(nowSeconds + 60, now);
    expect(delay).toBe(60_000);
    expect(delay).toBeLessThanOrEqual(61_000);
  });

  it.each([
    ['now', nowSeconds, 0],
    ['in the past', 1_234_567_890, 0],
    ['a second ago', nowSeconds - 1, 0],
    ['in an hour', nowSeconds + 3600, 3_600_000],
    ['in a day', nowSeconds + 86_400, 86_400_000],
    ['in two days', nowSeconds + 2 * 86_400, 0],
    ['in milliseconds', now + 60_000, 0],
    ['not a number', Number.NaN, 0],
    ['infinite', Infinity, 0],
    ['negative', -1, 0],
  ])('of a reset %s', (_, reset, delay) => {
    expect(calculateRateLimitDelay(reset, now)).toBe(delay);
  });

  it('uses the current time by default', () => {
    const delay = calculateRateLimitDelay(Math.floor(Date.now() / 1000) + 60);
    expect(delay).toBeGreaterThan(50_000);
    expect(delay).toBeLessThanOrEqual(61_000);
  });

  it('rounds up, so that a retry is never early', () => {
    expect(calculateRateLimitDelay(nowSeconds + 1, now + 0.5)).toBe(1000);
  });

  it('is an integer between 0 and the bound for any input', () => {
    fc.assert(
      fc.property(anyNumber, anyNumber, (reset, at) => {
        const delay = calculateRateLimitDelay(reset, at);
        expect(Number.isInteger(delay)).toBe(true);
        expect(delay).toBeGreaterThanOrEqual(0);
        expect(delay).toBeLessThanOrEqual(MAX_PLAUSIBLE_WAIT_MS);
      }),
    );
  });
});

describe('parseRateLimitHeaders', () => {
  const github = {
    'x-ratelimit-limit': '5000',
    'x-ratelimit-remaining': '4999',
    'x-ratelimit-reset': '1234567890',
  };

  it("reads the seed's example", () => {
    expect(parseRateLimitHeaders(github)).toEqual({
      limit: 5000,
      remaining: 4999,
      reset: 1_234_567_890,
    });
  });

  it.each<[string, unknown]>([
    ['Headers', new Headers(github)],
    ['a Map', new Map(Object.entries(github))],
    ['pairs', Object.entries(github)],
    ["node's rawHeaders", Object.entries(github).flat()],
    ['only a get', { get: (name: string) => new Headers(github).get(name) }],
    [
      'other letters',
      {
        'X-RateLimit-Limit': '5000',
        'X-RATELIMIT-REMAINING': '4999',
        'x-RateLimit-Reset': '1234567890',
      },
    ],
    ['arrays of one', { ...github, 'x-ratelimit-limit': ['5000'] }],
    ['numbers', { ...github, 'x-ratelimit-limit': 5000 }],
  ])('reads %s', (_, headers) => {
    expect(parseRateLimitHeaders(headers)?.remaining).toBe(4999);
  });

  it.each(Object.keys(github))('needs %s', (name) => {
    expect(parseRateLimitHeaders({ ...github, [name]: undefined })).toBeUndefined();
    for (const bad of [
      '',
      'abc',
      '-1',
      '1.5',
      '1e3',
      '0x10',
      '5000, 5000',
      ['1', '2'],
      '9'.repeat(16),
    ]) {
      expect(parseRateLimitHeaders({ ...github, [name]: bad })).toBeUndefined();
    }
  });

  it('rejects a reset in milliseconds', () => {
    expect(
      parseRateLimitHeaders({ ...github, 'x-ratelimit-reset': '1507651200000' }),
    ).toBeUndefined();
  });

  it.each([undefined, null, 42, 'x-ratelimit-limit', [], {}, new Headers()])(
    'finds nothing in %j',
    (headers) => {
      expect(parseRateLimitHeaders(headers)).toBeUndefined();
    },
  );
});

describe('checkRateLimit', () => {
  const reset = nowSeconds + 60;

  it.each([
    ['none left', { limit: 5000, remaining: 0, reset }, 60_000],
    ['fewer than 10 left', { limit: 5000, remaining: 9, reset }, 60_000],
    ['10 left', { limit: 5000, remaining: 10, reset }, undefined],
    ['plenty left', { limit: 5000, remaining: 4999, reset }, undefined],
    ['the reset has passed', { limit: 5000, remaining: 0, reset: nowSeconds - 1 }, undefined],
    ['the reset is now', { limit: 5000, remaining: 0, reset: nowSeconds }, undefined],
    ['the reset is in milliseconds', { limit: 5000, remaining: 0, reset: now + 60_000 }, undefined],
    ['the count is not a number', { limit: 5000, remaining: Number.NaN, reset }, undefined],
  ])('with a threshold of 10, when %s', (_, info, delay) => {
    expect(checkRateLimit(info, undefined, now)).toBe(delay);
  });

  it('accepts another threshold', () => {
    const info = { limit: 5000, remaining: 100, reset };
    expect(checkRateLimit(info, 101, now)).toBe(60_000);
    expect(checkRateLimit(info, 100, now)).toBeUndefined();
    expect(checkRateLimit({ ...info, remaining: 0 }, 0, now)).toBeUndefined();
  });

  it('recommends a plausible delay only below the threshold', () => {
    fc.assert(
      fc.property(anyNumber, anyNumber, anyNumber, anyNumber, (remaining, at, threshold, time) => {
        const delay = checkRateLimit({ limit: 1, remaining, reset: at }, threshold, time);
        if (delay === undefined) return;
        expect(remaining).toBeLessThan(threshold);
        expect(delay).toBe(calculateRateLimitDelay(at, time));
        expect(delay).toBeGreaterThan(0);
      }),
    );
  });
});

import { describe, expect, it } from 'vitest';
import { calculateRateLimitDelay } from '../decide/rate-limit.js';
import { parseServerHints } from './parse-server-hints.js';
import {
  date,
  iso,
  limits,
  now,
  seconds,
  triple,
  wait,
  type Fields,
} from './server-hints.fixture.js';

describe('rate-limit windows', () => {
  const openai = (name: string, remaining: string, reset: string): Fields => ({
    [`x-ratelimit-limit-${name}`]: '300',
    [`x-ratelimit-remaining-${name}`]: remaining,
    [`x-ratelimit-reset-${name}`]: reset,
  });

  it.each<[string, Fields, string | undefined]>([
    ['GitHub', triple('x-ratelimit', 0, seconds + 60), undefined],
    [
      'GitHub, named',
      { ...triple('x-ratelimit', 0, seconds + 60), 'x-ratelimit-resource': 'core' },
      'core',
    ],
    ['X', triple('x-rate-limit', 0, seconds + 60), undefined],
    ["X, app's day", triple('x-app-limit-24hour', 0, seconds + 60), '24h app'],
    ["X, user's day", triple('x-user-limit-24hour', 0, seconds + 60), '24h user'],
    ['the older IETF triple', triple('RateLimit', 0, 60), undefined],
    ['IETF draft 07', { RateLimit: 'limit=300, remaining=0, reset=60' }, undefined],
    [
      'IETF draft 11',
      { RateLimit: '"default";r=0;t=60', 'RateLimit-Policy': '"default";q=300;w=60' },
      'default',
    ],
    [
      'Anthropic requests',
      triple('anthropic-ratelimit-requests', 0, iso(now + 60_000)),
      'requests',
    ],
    ['Anthropic tokens', triple('anthropic-ratelimit-tokens', 0, iso(now + 60_000)), 'tokens'],
    [
      'Anthropic input',
      triple('anthropic-ratelimit-input-tokens', 0, iso(now + 60_000)),
      'input-tokens',
    ],
    [
      'Anthropic output',
      triple('anthropic-ratelimit-output-tokens', 0, iso(now + 60_000)),
      'output-tokens',
    ],
    ['OpenAI requests', openai('requests', '0', '1m0s'), 'requests'],
    ['OpenAI tokens', openai('tokens', '0', '1m'), 'tokens'],
  ])('of %s', (_, headers, name) => {
    const expected = { limit: 300, remaining: 0, reset: seconds + 60 };
    const hints = parseServerHints({ status: 429, headers }, now);
    expect(hints.limits).toEqual([name === undefined ? expected : { ...expected, name }]);
    expect(hints.retryAfterMs).toBe(60_000);
  });

  it("reads the numbers of the seed's example", () => {
    const headers = {
      'x-ratelimit-limit': '5000',
      'x-ratelimit-remaining': '4999',
      'x-ratelimit-reset': '1234567890',
    };
    expect(parseServerHints({ status: 200, headers }, 1_234_567_830_000)).toEqual({
      limits: [{ limit: 5000, remaining: 4999, reset: 1_234_567_890 }],
    });
  });

  it('parse the examples of the draft', () => {
    expect(limits({ ratelimit: '"default";r=50;t=30' })).toEqual([
      { limit: 50, remaining: 50, reset: seconds + 30, name: 'default', limitUnknown: true },
    ]);
    const policy = '"burst";q=100;w=60,"daily";q=1000;w=86400';
    expect(
      limits({
        ratelimit: ['"burst";r=99;t=30', '"daily";r=0;t=3600'],
        'ratelimit-policy': policy,
      }),
    ).toEqual([
      { limit: 100, remaining: 99, reset: seconds + 30, name: 'burst' },
      { limit: 1000, remaining: 0, reset: seconds + 3600, name: 'daily' },
    ]);
    expect(limits({ ratelimit: '"default";r=999;pk=:dHJpYWwxMjEzMjM=:' })).toEqual([]);
    expect(wait({ ratelimit: '"problemPolicy";r=0;t=10' }, 301)).toBe(10_000);
  });

  it.each([
    'default;r=0;t=10', // the name must be a string
    '"default";r=0.5;t=10',
    '"default";r=-1;t=10',
    '"default";r="0";t=10',
    '"default";r=0;t=-10',
    '"default";r=0;t=10.0',
    '"default";r=0;t=99999999',
    '"default";t=10',
    '"default";r=0;t=10,',
    '"default;r=0;t=10',
    'remaining=0, reset=abc',
    'remaining=0;reset=10',
  ])('ignore RateLimit: %s', (ratelimit) => {
    expect(parseServerHints({ status: 429, headers: { ratelimit } }, now)).toEqual({ limits: [] });
  });

  it('ignore a malformed policy but not the limit', () => {
    for (const policy of [
      '"default";q=',
      '"default";q=-1',
      'default;q=5',
      '100;w=60',
      '"other";q=5',
    ]) {
      const [info] = limits({ ratelimit: '"default";r=1;t=5', 'ratelimit-policy': policy });
      expect(info).toMatchObject({ limit: 1, remaining: 1, limitUnknown: true });
    }
  });

  it('are marked when the upstream did not report the limit', () => {
    const headers = {
      'x-app-limit-24hour-remaining': '0',
      'x-app-limit-24hour-reset': String(seconds + 3600),
    };
    expect(parseServerHints({ status: 429, headers }, now)).toEqual({
      retryAfterMs: 3_600_000,
      limits: [
        { limit: 0, remaining: 0, reset: seconds + 3600, name: '24h app', limitUnknown: true },
      ],
    });
  });

  it('keep short names only', () => {
    const [info] = limits({ ratelimit: `"${'n'.repeat(65)}";r=1;t=5` });
    expect(info).not.toHaveProperty('name');
  });

  it('are at most 16', () => {
    const ratelimit = Array.from({ length: 40 }, (_, i) => `"p${i}";r=1;t=5`).join(', ');
    expect(limits({ ratelimit })).toHaveLength(16);
  });
});

describe('the reset of a window', () => {
  it('is a delay only if the window is exhausted, for any status', () => {
    for (const status of [200, 403, 429, 500, 503]) {
      expect(wait(triple('x-ratelimit', 1, seconds + 60), status)).toBeUndefined();
      expect(wait(triple('x-ratelimit', 0, seconds + 60), status)).toBe(60_000);
    }
  });

  it('is the latest of the exhausted windows', () => {
    const headers = {
      ...triple('x-rate-limit', 0, seconds + 600),
      ...triple('x-app-limit-24hour', 7, seconds + 80_000),
      ...triple('x-user-limit-24hour', 0, seconds + 40_000),
    };
    expect(wait(headers)).toBe(40_000_000);
    expect(limits(headers)).toHaveLength(3);
  });

  it('may be one day away, not several', () => {
    expect(wait(triple('x-app-limit-24hour', 0, seconds + 86_400))).toBe(86_400_000);
    expect(wait(triple('x-app-limit-24hour', 0, seconds + 2 * 86_400))).toBeUndefined();
    expect(limits(triple('x-app-limit-24hour', 0, seconds + 2 * 86_400))).toEqual([]);
  });

  it('in milliseconds is ignored with its window', () => {
    const headers = triple('x-rate-limit', 0, now + 60_000);
    expect(parseServerHints({ status: 429, headers }, now)).toEqual({ limits: [] });
  });

  it('in the past is not a delay, but its window is reported', () => {
    const headers = triple('x-ratelimit', 0, seconds - 5);
    expect(parseServerHints({ status: 429, headers }, now)).toEqual({
      limits: [{ limit: 300, remaining: 0, reset: seconds - 5 }],
    });
    expect(wait(triple('x-ratelimit', 0, seconds))).toBeUndefined();
    expect(limits(triple('x-ratelimit', 0, 1_234_567_890))).toEqual([]);
  });

  it('without a count counts on a 429 only', () => {
    const headers = { 'x-ratelimit-reset': String(seconds + 60) };
    expect(parseServerHints({ status: 429, headers }, now)).toEqual({
      retryAfterMs: 60_000,
      limits: [],
    });
    for (const status of [200, 403, 503]) expect(wait(headers, status)).toBeUndefined();
  });

  it.each(['', '-1', 'none', '0, 0', '0.0', '1e309', '٠'])(
    'with a count of %j is absent',
    (remaining) => {
      const headers = triple('x-ratelimit', remaining, seconds + 60);
      expect(parseServerHints({ status: 429, headers }, now)).toEqual({ limits: [] });
    },
  );

  it.each([
    '',
    '-60',
    'soon',
    '0x65542a3c',
    '1700000060, 1700000060',
    '1700000060.5',
    '1e309',
    '1'.repeat(20),
  ])('of %j is ignored', (reset) => {
    const headers = triple('x-ratelimit', 0, reset);
    expect(parseServerHints({ status: 429, headers }, now)).toEqual({ limits: [] });
  });

  it('counts although the limit is malformed', () => {
    const headers = { ...triple('x-ratelimit', 0, seconds + 60), 'x-ratelimit-limit': '-1' };
    expect(wait(headers)).toBe(60_000);
    expect(limits(headers)).toMatchObject([{ limit: 0, limitUnknown: true }]);
  });

  it('is the delay of a GraphQL query that exceeds the remaining points', () => {
    const headers = triple('x-ratelimit', 4, seconds + 60);
    expect(wait(headers, 200, { errors: [{ type: 'RATE_LIMITED' }] })).toBe(60_000);
    expect(wait(headers, 200, { errors: [{ type: 'NOT_FOUND' }] })).toBeUndefined();
    expect(wait(headers, 200, { data: {} })).toBeUndefined();
  });
});

describe('clock skew', () => {
  const ahead = 120_000;
  /** Headers of a server whose clock is two minutes behind. */
  const server = now - ahead;

  it("absolute times are relative to the response's Date", () => {
    const headers = { date: date(server), ...triple('x-ratelimit', 0, server / 1000 + 60) };
    const hints = parseServerHints({ status: 429, headers }, now);
    expect(hints.retryAfterMs).toBe(60_000);
    expect(calculateRateLimitDelay(hints.limits[0]?.reset ?? 0, now)).toBe(60_000);
    expect(wait({ date: date(server), 'retry-after': date(server + 5000) })).toBe(5000);
    const reset = iso(server + 7000);
    expect(wait({ date: date(server), ...triple('anthropic-ratelimit-tokens', 0, reset) })).toBe(
      7000,
    );
  });

  it('durations do not depend on clocks', () => {
    const headers = { date: date(server), ...triple('ratelimit', 0, 60) };
    const hints = parseServerHints({ status: 429, headers }, now);
    expect(hints.retryAfterMs).toBe(60_000);
    expect(hints.limits[0]?.reset).toBe(seconds + 60);
  });

  it.each<[string, Fields]>([
    ['is missing', {}],
    ['is malformed', { date: 'yesterday' }],
    ['is that of a cached answer', { date: date(server), age: '120' }],
    ['is days away', { date: date(now - 3 * 86_400_000) }],
    ['differs by what rounding and the way explain', { date: date(now - 4000) }],
  ])('the local clock applies when the Date %s', (_, more) => {
    expect(wait({ ...triple('x-ratelimit', 0, seconds + 60), ...more })).toBe(60_000);
  });
});

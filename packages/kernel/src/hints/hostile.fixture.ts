import * as fc from 'fast-check';
import { expect } from 'vitest';
import { isDailyQuota } from './google-errors.js';
import { isRateLimited } from './is-rate-limited.js';
import { parseServerHints } from './parse-server-hints.js';
import { MAX_PLAUSIBLE_WAIT_MS } from './numbers.js';
import type { ResponseLike } from './response.js';

export const now = 1_700_000_000_000;
export const names = [
  'retry-after',
  'Retry-After',
  'retry-after-ms',
  'date',
  'age',
  'ratelimit',
  'RateLimit-Policy',
  ...[
    'x-ratelimit',
    'x-rate-limit',
    'x-app-limit-24hour',
    'ratelimit',
    'anthropic-ratelimit-tokens',
  ].flatMap((prefix) => ['limit', 'remaining', 'reset'].map((suffix) => `${prefix}-${suffix}`)),
  'x-ratelimit-remaining-tokens',
  'x-ratelimit-reset-tokens',
  'x-ratelimit-resource',
  '__proto__',
  'constructor',
  'prototype',
  'get',
  'length',
  'toString',
  '',
];

/** Text that is nearly a value, where parsers go wrong more often than on noise. */
const nearly = fc
  .tuple(
    fc.constantFrom(
      '0',
      '5',
      '60',
      '-1',
      '1e309',
      '0x10',
      'NaN',
      'Infinity',
      '9'.repeat(30),
      String(now),
      String(now / 1000 + 60),
      new Date(now + 60_000).toUTCString(),
      new Date(now + 60_000).toISOString(),
      '"default";r=0;t=60',
      '"a";q=5;w=1',
      'limit=1, remaining=0, reset=5',
      '1h2m3.5s',
      '250ms',
      '"',
      '"a',
      '\\',
      '%"',
      ':',
      '@1',
      '?1',
      '(1)',
      ';',
      ',',
      '',
    ),
    fc.constantFrom('', '', '', ' ', ',', ', 5', ';x', '\u0000', '\n', '\u00fc', '\ud800'),
  )
  .map((parts) => parts.join(''));
const bytes = fc.uint8Array({ maxLength: 40 }).map((data) => String.fromCharCode(...data));
const text = fc.oneof(nearly, nearly, bytes, fc.string());
const value = fc.oneof(text, text, fc.array(text, { maxLength: 3 }), fc.anything(), fc.double());
const pairs = fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 12 });

export const boom = (): never => {
  throw new Error('boom');
};
export const throwing: object = new Proxy(
  {},
  { get: boom, has: boom, ownKeys: boom, getPrototypeOf: boom, getOwnPropertyDescriptor: boom },
);

const headers = fc.oneof(
  pairs.map((list) => Object.fromEntries(list)),
  pairs.map((list) =>
    Object.defineProperties(
      {},
      Object.fromEntries(
        list.map(([k, v], i) => [k, { enumerable: true, get: () => (i % 3 === 0 ? boom() : v) }]),
      ),
    ),
  ),
  pairs.map((list) => new Map(list)),
  pairs.map((list) => list.flat()),
  pairs,
  pairs.map((list) => ({ get: (name: string) => new Map(list).get(name) })),
  fc.anything({
    withMap: true,
    withNullPrototype: true,
    withTypedArray: true,
    withSparseArray: true,
  }),
);

const retryDelay = fc.oneof(
  fc.constantFrom('34.07s', '-1s', '1e309s', '99999999s', 's', ''),
  fc.anything(),
);
const details = fc.record({
  '@type': fc.constantFrom('x/google.rpc.RetryInfo', 'x/google.rpc.QuotaFailure', 'x'),
  retryDelay,
  violations: fc.anything(),
});
const body = fc.oneof(
  fc.anything({ withMap: true, maxDepth: 4 }),
  fc.record({ error: fc.record({ details: fc.array(details, { maxLength: 3 }) }) }),
  fc.array(details, { maxLength: 3 }).map((list) => JSON.stringify([{ error: { details: list } }])),
  fc.record({
    errors: fc.oneof(
      fc.anything(),
      fc.array(fc.record({ type: fc.constantFrom('RATE_LIMITED', 'X') }), { maxLength: 2 }),
    ),
  }),
  fc.string().map((message) => ({ message, documentation_url: message })),
);
const status = fc.oneof(fc.constantFrom(200, 403, 429, 503), fc.anything());
const time = fc.oneof(
  fc.constant(now),
  fc.constantFrom(Number.NaN, Infinity, -1, 0, 1e300),
  fc.double(),
);

function expectSound(response: unknown, at: number): void {
  const hints = parseServerHints(response as ResponseLike, at);
  if ('retryAfterMs' in hints) {
    expect(Number.isInteger(hints.retryAfterMs)).toBe(true);
    expect(hints.retryAfterMs).toBeGreaterThanOrEqual(0);
    expect(hints.retryAfterMs).toBeLessThanOrEqual(MAX_PLAUSIBLE_WAIT_MS);
  }
  for (const { limit, remaining, reset, name } of hints.limits) {
    expect(Number.isSafeInteger(limit) && limit >= 0).toBe(true);
    expect(Number.isSafeInteger(remaining) && remaining >= 0).toBe(true);
    expect(Number.isFinite(reset) && reset >= 0).toBe(true);
    expect(name === undefined || name.length <= 64).toBe(true);
  }
  expect(parseServerHints(response as ResponseLike, at)).toEqual(hints);
}

/** Whatever a server says: never a throw, and never a wait that cannot be waited. */
export const soundOnAnything = fc.property(headers, body, status, time, expectSoundAnswers);

function expectSoundAnswers(h: unknown, b: unknown, s: unknown, at: number): void {
  const response = { status: s, headers: h, body: b };
  expectSound(response, at);
  expect(typeof isRateLimited(response as ResponseLike, at)).toBe('boolean');
  expect(typeof isDailyQuota(b)).toBe('boolean');
}

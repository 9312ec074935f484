import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isDailyQuota } from './google-errors.js';
import { boom, names, now, soundOnAnything, throwing } from './hostile.fixture.js';
import { isRateLimited } from './is-rate-limited.js';
import { parseServerHints } from './parse-server-hints.js';
import type { ResponseLike } from './response.js';

describe('hostile input', () => {
  it('never causes an exception or an invalid delay', () => {
    fc.assert(soundOnAnything, { numRuns: 1500 });
  });

  it('treats containers that throw as empty', () => {
    const containers = [
      throwing,
      new Proxy([], { get: boom }),
      Object.create(throwing),
      { get: boom },
    ];
    const bodies = [
      throwing,
      { error: throwing },
      { errors: throwing },
      { error: { details: [throwing] } },
    ];
    for (const each of containers) {
      for (const content of bodies) {
        const response = { status: 403, headers: each as unknown, body: content };
        expect(parseServerHints(response, now)).toEqual({ limits: [] });
        expect(isRateLimited(response, now)).toBe(false);
        expect(isDailyQuota(content)).toBe(false);
      }
    }
  });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a number', 5],
    ['a proxy that throws', throwing],
    [
      'getters that throw',
      {
        get status() {
          return boom();
        },
        get headers() {
          return boom();
        },
        get body() {
          return boom();
        },
      },
    ],
  ])('accepts %s as a response', (_, response) => {
    expect(parseServerHints(response as ResponseLike, now)).toEqual({ limits: [] });
    expect(isRateLimited(response as ResponseLike, now)).toBe(false);
  });

  it('ignores a polluted prototype', () => {
    const polluted: Record<string, unknown> = {
      status: 429,
      headers: { 'retry-after': '5' },
      body: { errors: [{ type: 'RATE_LIMITED' }] },
      errors: [{ type: 'RATE_LIMITED' }],
      error: { details: [{ '@type': 'x/google.rpc.RetryInfo', retryDelay: '5s' }] },
      'retry-after': '5',
    };
    const prototype = Object.getPrototypeOf({}) as object;
    const seen: unknown[] = [];
    try {
      Object.assign(prototype, polluted);
      seen.push(parseServerHints({}, now).retryAfterMs);
      seen.push(parseServerHints({ status: 500, headers: {}, body: {} }, now).retryAfterMs);
      seen.push(isRateLimited({ status: 500, headers: {}, body: {} }, now) || undefined);
    } finally {
      for (const key of Object.keys(polluted)) Reflect.deleteProperty(prototype, key);
    }
    expect(seen).toEqual([undefined, undefined, undefined]);
  });
});

describe('a megabyte of input takes at most milliseconds', () => {
  const size = 1_000_000;
  const marker = 'google.rpc.RetryInfo RATE_LIMITED rate-limit';
  const fill = (unit: string): string => unit.repeat(Math.ceil(size / unit.length));

  it.each([
    ' ',
    '\t',
    '9',
    '"',
    '\\',
    '"\\',
    ',',
    ';',
    ';a',
    '"a",',
    '"a";r=0;t=1, ',
    '1h',
    '0.',
    '-',
    '%',
    ':',
    '[',
    '{"error":',
    'Sun, ',
    '\u0000',
  ])('of %j in headers and body', (unit) => {
    const long = fill(unit);
    const several = Array.from({ length: 30 }, () => long.slice(0, 2000));
    const response: ResponseLike[] = [
      { status: 429, headers: Object.fromEntries(names.map((name) => [name, long])), body: long },
      {
        status: 403,
        headers: Object.fromEntries(names.map((name) => [name, several])),
        body: { message: long },
      },
      {
        status: 429,
        headers: names.flatMap((name) => several.flatMap((line) => [name, line])),
        body: marker + long,
      },
      {
        status: 429,
        headers: Object.fromEntries(names.map((name) => [name, long.slice(0, 2048)])),
        body: Array.from({ length: 1000 }, () => marker + long.slice(0, 60_000)),
      },
    ];
    const start = process.cpuUsage();
    for (const each of response) {
      parseServerHints(each, now);
      isRateLimited(each, now);
      isDailyQuota(each.body);
    }
    const { user, system } = process.cpuUsage(start);
    expect((user + system) / 1000).toBeLessThan(1000);
  });
});

import { describe, expect, it } from 'vitest';
import { parseServerHints } from './parse-server-hints.js';
import { MAX_PLAUSIBLE_WAIT_MS } from './numbers.js';
import { date, now, retryInfo, seconds, triple, wait } from './server-hints.fixture.js';

describe('Retry-After', () => {
  it.each<[string, number]>([
    ['0', 0],
    ['5', 5000],
    ['120', 120_000],
    ['007', 7000],
    ['1.5', 1500],
    ['1.1', 1100],
    ['0.0001', 1],
    ['90000', MAX_PLAUSIBLE_WAIT_MS],
    [date(now + 60_000), 60_000],
    ['Tuesday, 14-Nov-23 22:14:20 GMT', 60_000],
    ['Tue Nov 14 22:14:20 2023', 60_000],
    [date(now), 0],
    [date(now - 60_000), 0],
    [date(now + MAX_PLAUSIBLE_WAIT_MS), MAX_PLAUSIBLE_WAIT_MS],
  ])('of %j is a delay', (value, ms) => {
    expect(wait({ 'Retry-After': value })).toBe(ms);
  });

  it.each([
    '',
    '-1',
    '-0',
    '+5',
    '5s',
    '5 seconds',
    '5,',
    '5, 5',
    '5, 60',
    '1e3',
    '1e309',
    '0x10',
    'NaN',
    'Infinity',
    '1.',
    '.5',
    '٣',
    '90001', // an hour and a day, and a second
    '120000', // two minutes in milliseconds
    '1700000060', // a timestamp
    '1700000060000',
    '9'.repeat(400),
    date(now + MAX_PLAUSIBLE_WAIT_MS + 1000),
    date(now - MAX_PLAUSIBLE_WAIT_MS - 1000),
    `${date(now + 1000)}, ${date(now + 2000)}`,
    'Wed, 21 Oct 2015',
    'tomorrow',
  ])('of %j is ignored', (value) => {
    expect(wait({ 'retry-after': value })).toBeUndefined();
  });

  it('as an array of two is ignored', () => {
    expect(wait({ 'retry-after': ['5', '60'] })).toBeUndefined();
  });

  it('is read for any status', () => {
    for (const status of [200, 301, 403, 413, 500, 503])
      expect(wait({ 'retry-after': '5' }, status)).toBe(5000);
  });
});

describe('retry-after-ms', () => {
  it.each<[string, number | undefined]>([
    ['1500', 1500],
    ['1500.2', 1501],
    ['0', 0],
    ['90000000', MAX_PLAUSIBLE_WAIT_MS],
    ['90000001', undefined],
    ['-1', undefined],
    ['1s', undefined],
  ])('of %j', (value, ms) => {
    expect(wait({ 'retry-after-ms': value })).toBe(ms);
  });
});

describe('precedence', () => {
  const exhausted = triple('x-ratelimit', 0, seconds + 40);

  it('is Retry-After, retry-after-ms, RetryInfo, reset', () => {
    const body = retryInfo('30s');
    const all = { ...exhausted, 'retry-after': '10', 'retry-after-ms': '20000' };
    expect(wait(all, 429, body)).toBe(10_000);
    expect(wait({ ...all, 'retry-after': undefined }, 429, body)).toBe(20_000);
    expect(wait(exhausted, 429, body)).toBe(30_000);
    expect(wait(exhausted, 429)).toBe(40_000);
  });

  it('falls back to the next source if one is malformed or implausible', () => {
    const all = { ...exhausted, 'retry-after': '99999999', 'retry-after-ms': 'soon' };
    expect(wait(all, 429, retryInfo('30s'))).toBe(30_000);
    expect(wait(all, 429, retryInfo('-30s'))).toBe(40_000);
  });

  it('prefers a Retry-After of 0 over longer delays', () => {
    expect(wait({ ...exhausted, 'retry-after': '0' }, 429, retryInfo('30s'))).toBe(0);
  });
});

describe('google.rpc.RetryInfo', () => {
  it('is read with or without headers', () => {
    expect(wait({ date: date(now) }, 429, retryInfo('34.074824224s'))).toBe(34_075);
    expect(parseServerHints({ status: 503, body: JSON.stringify(retryInfo('5s')) }, now)).toEqual({
      retryAfterMs: 5000,
      limits: [],
    });
    expect(parseServerHints({ body: retryInfo('5s') }, now).retryAfterMs).toBe(5000);
  });

  it('is ignored in a success', () => {
    expect(wait({}, 200, retryInfo('5s'))).toBeUndefined();
    expect(wait(triple('x-ratelimit', 1, seconds + 1), 204, retryInfo('5s'))).toBeUndefined();
  });
});

describe('a response without hints', () => {
  it('returns a shared frozen object', () => {
    const one = parseServerHints({ status: 200, headers: { 'content-type': 'x' } }, now);
    const two = parseServerHints({ status: 200, headers: new Headers(), body: { a: 1 } }, now);
    expect(one).toBe(two);
    expect(one).toEqual({ limits: [] });
    expect(Object.isFrozen(one) && Object.isFrozen(one.limits)).toBe(true);
  });

  it("reads fetch's Response", () => {
    const response = new Response('{}', { status: 429, headers: { 'retry-after': '5' } });
    expect(parseServerHints(response, now).retryAfterMs).toBe(5000);
  });
});

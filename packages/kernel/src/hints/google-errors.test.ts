import { describe, expect, it } from 'vitest';
import { isDailyQuota, retryInfoDelay } from './google-errors.js';

const info = (retryDelay: unknown): object => ({
  '@type': 'type.googleapis.com/google.rpc.RetryInfo',
  retryDelay,
});
const quota = (...quotaIds: string[]): object => ({
  '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
  violations: quotaIds.map((quotaId) => ({
    quotaMetric: 'generativelanguage.googleapis.com/generate_content_free_tier_requests',
    quotaId,
  })),
});
const status = (...details: unknown[]): { error: object } => ({
  error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'You exceeded your quota.', details },
});
/** The body as each layer above it may hand it on. */
const wrappings: readonly (readonly [string, (body: { error: object }) => unknown])[] = [
  ['an object', (body) => body],
  ['an array', (body) => [body]],
  ['the inner status', (body) => body.error],
  ['text', (body) => JSON.stringify(body)],
  ['text of an array', (body) => JSON.stringify([body], undefined, 2)],
  ['a thrown error', (body) => new Error(JSON.stringify(body))],
  [
    'a thrown error of a stream',
    (body) => new Error(JSON.stringify({ error: { message: JSON.stringify(body), code: 429 } })),
  ],
];

describe.each(wrappings)('in %s', (_, wrap) => {
  it('finds the delay of a RetryInfo', () => {
    const body = status({ '@type': 'type.googleapis.com/google.rpc.Help' }, info('34.074824224s'));
    expect(retryInfoDelay(wrap(body))).toBe(34_075);
  });

  it('distinguishes a daily quota from one per minute', () => {
    const day = 'GenerateRequestsPerDayPerProjectPerModel-FreeTier';
    const minute = 'GenerateRequestsPerMinutePerProjectPerModel-FreeTier';
    expect(isDailyQuota(wrap(status(quota(minute, day), info('34s'))))).toBe(true);
    expect(isDailyQuota(wrap(status(quota(minute), info('34s'))))).toBe(false);
    expect(isDailyQuota(wrap(status(info('34s'))))).toBe(false);
  });
});

describe('retryInfoDelay', () => {
  it.each([
    undefined,
    null,
    34,
    '34',
    '-1s',
    '34',
    '1e309s',
    '90001s',
    'NaNs',
    {},
    ['34s'],
    '0x10s',
  ])('ignores the delay %j', (delay) => {
    expect(retryInfoDelay(status(info(delay)))).toBeUndefined();
  });

  it('accepts 0', () => {
    expect(retryInfoDelay(status(info('0s')))).toBe(0);
  });

  it('uses the first plausible delay', () => {
    expect(retryInfoDelay(status(info('-1s'), info('2s'), info('3s')))).toBe(2000);
  });

  it('does not parse very long strings', () => {
    const padded = (length: number): string => JSON.stringify(status(info('5s'))).padEnd(length);
    expect(retryInfoDelay(padded(60_000))).toBe(5000);
    expect(retryInfoDelay(padded(70_000))).toBeUndefined();
  });

  it('ignores details of another type', () => {
    expect(
      retryInfoDelay(status({ '@type': 'x/google.rpc.Other', retryDelay: '5s' })),
    ).toBeUndefined();
    expect(retryInfoDelay(status({ retryDelay: '5s' }))).toBeUndefined();
  });

  it('terminates on cycles and large bodies', () => {
    const cycle: Record<string, unknown> = {};
    cycle['error'] = cycle;
    cycle['message'] = [cycle, cycle, cycle];
    expect(retryInfoDelay(cycle)).toBeUndefined();
    let deep: unknown = status(info('5s'));
    for (let i = 0; i < 1000; i++) deep = { error: deep };
    expect(retryInfoDelay(deep)).toBeUndefined();
    expect(
      retryInfoDelay([...Array.from({ length: 100 }, () => ({})), status(info('5s'))]),
    ).toBeUndefined();
  });
});

describe('isDailyQuota', () => {
  it('reads the metric if there is no id', () => {
    const violations = [{ quotaMetric: 'x/generate_requests_per_model_per_day' }];
    const detail = { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations };
    expect(isDailyQuota(status(detail))).toBe(true);
  });

  it.each([undefined, null, '', 'PerDay', 42, [], {}, { error: { details: 'PerDay' } }])(
    'is false for %j',
    (body) => {
      expect(isDailyQuota(body)).toBe(false);
    },
  );
});

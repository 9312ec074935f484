import { describe, expect, test } from 'vitest';
import {
  attemptsText,
  endOf,
  formatAge,
  formatAmount,
  formatDuration,
  formatMoment,
  formatShare,
  formatSpan,
  formatTime,
  plural,
  shortId,
  zoneAt,
} from './format.js';

describe('a duration', () => {
  test.for([
    [0, '0 ms'],
    [0.4, '0.4 ms'],
    [7, '7 ms'],
    [340.4, '340 ms'],
    [999.4, '999 ms'],
    [999.6, '1.0 s'],
    [2_430, '2.4 s'],
    [9_949, '9.9 s'],
    [9_960, '10 s'],
    [59_499, '59 s'],
    [59_600, '1 min'],
    [185_000, '3 min 5 s'],
    [3_600_000, '1 h'],
    [7_800_000, '2 h 10 min'],
    [356_400_000, '4 d 3 h'],
    [-1_500, '−1.5 s'],
  ] as const)('of %d ms is %s', ([ms, text]) => {
    expect(formatDuration(ms)).toBe(text);
  });

  test('that is unknown is a dash, never a number', () => {
    expect([undefined, NaN, Infinity].map(formatDuration)).toEqual(['–', '–', '–']);
  });
});

test('an age changes its unit, and never runs ahead', () => {
  const ages = [-5_000, 1_999, 2_000, 59_999, 60_000, 3_599_999, 3_600_000, 86_400_000];
  expect(ages.map(formatAge)).toEqual([
    'now',
    'now',
    '2 s',
    '59 s',
    '1 min',
    '59 min',
    '1 h',
    '1 d',
  ]);
});

test('attempts that could act are told apart from read-backs', () => {
  expect(attemptsText({ attempts: 0 })).toBe('no request');
  expect(attemptsText({ attempts: 3 })).toBe('3 attempts');
  expect(attemptsText({ attempts: 16, sends: 1 })).toBe('1 attempt, 15 read-backs');
});

test('a share is not rounded to certainty', () => {
  expect([1, 0.9999, 0.998, 0.58, 0.0001, 0, undefined].map(formatShare)).toEqual([
    '100 %',
    '>99.9 %',
    '99.8 %',
    '58 %',
    '<0.1 %',
    '0 %',
    '–',
  ]);
});

test('counts and costs have units', () => {
  expect(formatAmount({ amount: 0.015, unit: 'USD' })).toBe('0.015 USD');
  expect(formatAmount({ amount: 1, unit: 'post' })).toBe('1 post');
  expect(plural(1, 'call')).toBe('1 call');
  expect(plural(1234, 'live process', 'live processes')).toBe('1,234 live processes');
  expect(shortId('op_1')).toBe('op_1');
  expect(shortId('01JC7Q8Z2M01JC7Q8Z2M')).toBe('01JC7Q8Z2M01…');
});

describe('a moment', () => {
  const now = new Date(2026, 4, 12, 15, 0, 0).getTime();

  test('of today has no day, of another day has one, of another year has the year', () => {
    expect(formatTime(now - 1000, now)).toBe('14:59:59');
    expect(formatTime(new Date(2026, 4, 11, 9, 5, 0).getTime(), now)).toBe('11 May, 09:05:00');
    expect(formatTime(new Date(2025, 11, 31, 23, 0, 0).getTime(), now)).toBe(
      '31 Dec 2025, 23:00:00',
    );
  });

  test('that stands alone names the zone', () => {
    expect(zoneAt(now)).not.toBe('');
    expect(formatMoment(now, now)).toBe(`15:00:00 ${zoneAt(now)}`);
  });

  test('that is malformed is a dash', () => {
    expect([formatTime('no time'), formatTime(undefined), formatTime(9e15), zoneAt(9e15)]).toEqual([
      '–',
      '–',
      '–',
      '',
    ]);
  });
});

test('a call ends its duration after its start', () => {
  expect(endOf({ at: '2026-05-12T10:00:00.000Z', elapsed_ms: 7_300 })).toBe(
    Date.parse('2026-05-12T10:00:07.300Z'),
  );
});

test('a span is never "now": it stands between words', () => {
  expect([0, 1_999, 2_000, 90_000].map(formatSpan)).toEqual(['1 s', '1 s', '2 s', '1 min']);
});

test('money has cents', () => {
  expect(formatAmount({ amount: 0.2, unit: 'USD' })).toBe('0.20 USD');
  expect(formatAmount({ amount: 0.015, unit: 'USD' })).toBe('0.015 USD');
  expect(formatAmount({ amount: 1, unit: 'post' })).toBe('1 post');
});

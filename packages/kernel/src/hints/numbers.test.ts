import { describe, expect, it } from 'vitest';
import {
  MAX_PLAUSIBLE_WAIT_MS,
  parseGoDuration,
  parseProtoDuration,
  plausibleWait,
} from './numbers.js';

describe('parseGoDuration', () => {
  it.each([
    ['1s', 1000],
    ['6m0s', 360_000],
    ['250ms', 250],
    ['12ms', 12],
    ['0s', 0],
    ['8.64s', 8640],
    ['2m59.56s', 179_560],
    ['1h2m3s', 3_723_000],
    ['1h2m3.5s', 3_723_500],
    ['24h0m0s', 86_400_000],
    ['1.5h', 5_400_000],
    ['1500us', 1.5],
    ['1500µs', 1.5],
    ['500000ns', 0.5],
  ])('reads %s', (text, ms) => {
    expect(parseGoDuration(text)).toBeCloseTo(ms, 6);
  });

  it.each([
    '',
    '5',
    's',
    '-1s',
    '+1s',
    '1 s',
    '1s ',
    '1sec',
    '1S',
    '1d',
    '1e3s',
    '0x1s',
    '.5s',
    '1.s',
  ])('rejects %j', (text) => {
    expect(parseGoDuration(text)).toBeUndefined();
  });

  it('keeps no state between calls', () => {
    expect(parseGoDuration('1h2m3s!')).toBeUndefined();
    expect(parseGoDuration('7s')).toBe(7000);
  });
});

describe('parseProtoDuration', () => {
  it.each([
    ['34.074824224s', 34_074.824224],
    ['34s', 34_000],
    ['0s', 0],
    ['0.000000001s', 0.000001],
  ])('reads %s', (text, ms) => {
    expect(parseProtoDuration(text)).toBeCloseTo(ms, 6);
  });

  it.each([
    '',
    '34',
    '-34s',
    '+34s',
    '34.s',
    '.5s',
    '34ms',
    '1m',
    '34s34s',
    '1e1s',
    '0.0000000001s',
  ])('rejects %j', (text) => {
    expect(parseProtoDuration(text)).toBeUndefined();
  });
});

describe('plausibleWait', () => {
  it.each([
    [0, 0],
    [-0, 0],
    [0.2, 1],
    [1000, 1000],
    [1000.4, 1001],
    [MAX_PLAUSIBLE_WAIT_MS, MAX_PLAUSIBLE_WAIT_MS],
    [MAX_PLAUSIBLE_WAIT_MS + 1, undefined],
    [-1, undefined],
    [Number.NaN, undefined],
    [Infinity, undefined],
  ])('of %d', (ms, expected) => {
    expect(plausibleWait(ms)).toBe(expected);
  });

  it('does not round up the error of binary fractions', () => {
    for (let ms = 0; ms < 100_000; ms += 7) {
      const seconds = Number((ms / 1000).toFixed(3));
      if (plausibleWait(seconds * 1000) !== ms) expect(seconds).toBe(ms);
    }
    expect(plausibleWait(Number('4.035') * 1000)).toBe(4035);
  });
});

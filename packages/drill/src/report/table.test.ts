import { expect, test } from 'vitest';
import { change, duration, percent, times } from './table.js';

test.for([
  [1.047, '+4.7 %'],
  [0.98, '−2.0 %'],
  [1, '±0.0 %'],
  [1.0003, '±0.0 %'],
  [10.98, '+998.0 %'],
  [71.2, '+7020 %'],
] as const)('a ratio of %f is %s', ([ratio, text]) => {
  expect(change(ratio)).toBe(text);
});

test.for([
  [0, '0 s'],
  [5, '5 ms'],
  [7.36, '7.4 ms'],
  [200, '200 ms'],
  [1000, '1 s'],
  [6851, '6.9 s'],
  [1_023_109, '1023 s'],
] as const)('%f milliseconds are %s', ([ms, text]) => {
  expect(duration(ms)).toBe(text);
});

test('shares and loads', () => {
  expect(percent(0.99213, 2)).toBe('99.21 %');
  expect(times(1.2449)).toBe('1.24×');
});

import { expect, test } from 'vitest';
import { quantileOf, sorted } from './quantile.js';

test.for([
  [[7], 0.95, 7],
  [[1, 2, 3, 4, 5], 0.5, 3],
  [[1, 2], 0.5, 1.5],
  [[0, 10], 0.95, 9.5],
  [[1, 2, 3], 0, 1],
  [[1, 2, 3], 1, 3],
] as const)('of %j the quantile %f is %f', ([values, q, expected]) => {
  expect(quantileOf(values, q)).toBeCloseTo(expected, 12);
});

test('nothing has no quantile', () => {
  expect(quantileOf([], 0.5)).toBeNaN();
});

test('sorting leaves the original alone', () => {
  const values = Float64Array.of(3, 1, 2);
  expect([...sorted(values)]).toEqual([1, 2, 3]);
  expect([...values]).toEqual([3, 1, 2]);
});

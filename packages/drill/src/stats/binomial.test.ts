import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { lowestExpected } from './binomial.js';

const same = (chance: number, count: number): number[] =>
  Array.from({ length: count }, () => chance);

test.for([
  // chance, calls, three deviations below: by hand
  [0.992, 200, 0.9731],
  [0.992 ** 2, 200, 0.9575],
  [0.992, 1400, 0.9849],
  [0.5, 100, 0.35],
  [1, 200, 1],
] as const)('of %f with %i calls no fewer than %f are expected', ([chance, calls, lowest]) => {
  expect(lowestExpected(same(chance, calls), 3)).toBeCloseTo(lowest, 4);
});

test('calls of different chances: the variance is the sum of theirs', () => {
  const chances = [...same(0.9, 50), ...same(0.5, 50)];
  const deviation = Math.sqrt(50 * 0.09 + 50 * 0.25) / 100;
  expect(lowestExpected(chances, 2)).toBeCloseTo(0.7 - 2 * deviation, 12);
});

test('more calls leave less room for bad luck, better chances raise what is expected', () => {
  const chance = fc.double({ min: 0.01, max: 0.99, noNaN: true });
  fc.assert(
    fc.property(chance, fc.integer({ min: 1, max: 500 }), (p, calls) => {
      const lowest = lowestExpected(same(p, calls), 3);
      expect(lowest).toBeLessThan(p);
      expect(lowestExpected(same(p, calls * 2), 3)).toBeGreaterThan(lowest);
    }),
  );
});

test('bad luck as rare as it should be: binomial draws fall below it about once in 700', () => {
  const lowest = lowestExpected(same(0.9, 400), 3);
  // The exact chance of at most that many successes, from the binomial distribution itself.
  let chance = 0.1 ** 400;
  let below = 0;
  const logs = { p: Math.log(0.9), q: Math.log(0.1) };
  let logChoose = 0;
  for (let k = 0; k < lowest * 400; k++) {
    chance = Math.exp(logChoose + k * logs.p + (400 - k) * logs.q);
    below += chance;
    logChoose += Math.log(400 - k) - Math.log(k + 1);
  }
  expect(below).toBeGreaterThan(0.0005);
  expect(below).toBeLessThan(0.004);
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lifetimeOf } from './token-endpoint.js';

const HOUR_MS = 3_600_000;

describe('token lifetime', () => {
  it.each([
    [7200, 2 * HOUR_MS],
    [1, 1000],
    [86_400 * 365, 365 * 24 * HOUR_MS],
  ])('%s seconds as X says', (given, expected) => {
    expect(lifetimeOf(given)).toBe(expected);
  });

  it.each([
    [1e99],
    [86_400 * 365 + 1],
    [-1],
    [0],
    [Number.NaN],
    [Infinity],
    ['7200'],
    [null],
    [{}],
  ])('has a default if X sends %s', (given) => {
    expect(lifetimeOf(given)).toBe(2 * HOUR_MS);
  });

  it('always gives a valid date', () => {
    fc.assert(
      fc.property(fc.oneof(fc.double(), fc.anything()), (given) => {
        const moment = new Date(Date.now() + lifetimeOf(given));
        expect(moment.getTime()).toBeGreaterThanOrEqual(0);
        expect(() => moment.toISOString()).not.toThrow();
      }),
    );
  });
});

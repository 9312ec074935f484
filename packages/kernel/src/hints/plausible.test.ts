import { describe, expect, it } from 'vitest';
import { MAX_PLAUSIBLE_WAIT_MS, plausibleWait } from './plausible.js';

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

  it('does not add a millisecond where a fraction of a second has no exact binary form', () => {
    for (let ms = 0; ms < 100_000; ms += 7) {
      const seconds = Number((ms / 1000).toFixed(3));
      if (plausibleWait(seconds * 1000) !== ms) expect(seconds).toBe(ms);
    }
    expect(plausibleWait(Number('4.035') * 1000)).toBe(4035);
  });
});

import { describe, expect, it } from 'vitest';
import { withRetryAfter } from '../rate-limits.js';

const NOW = 1_000_000_000_000;
const in_ = (seconds: number) => NOW / 1000 + seconds;

describe('heldBack', () => {
  it('keeps what was told where that says when to come back', () => {
    const told = [{ limit: 15, remaining: 0, reset: in_(600) }];
    expect(withRetryAfter(told, 600_000, NOW)).toEqual(told);
    expect(withRetryAfter(told, 600_900, NOW)).toEqual(told);
    expect(withRetryAfter(told, undefined, NOW)).toEqual(told);
  });

  it('makes a window of a wait that came without one', () => {
    const made = {
      limit: 0,
      remaining: 0,
      reset: in_(119.001),
      limitUnknown: true,
      name: 'not stated',
    };
    expect(withRetryAfter([], 119_001, NOW)).toEqual([made]);
  });

  it('goes by the wait where it is longer than the window, or contradicts it', () => {
    const day = { limit: 50, remaining: 7, reset: in_(9_000), name: '24h user' };
    const made = {
      limit: 0,
      remaining: 0,
      reset: in_(120),
      limitUnknown: true,
      name: 'not stated',
    };
    for (const told of [
      { limit: 15, remaining: 0, reset: in_(60) },
      { limit: 15, remaining: 3, reset: in_(600) },
    ]) {
      expect(withRetryAfter([told, day], 120_000, NOW)).toEqual([day, made]);
    }
  });

  it('leaves out windows that are over', () => {
    expect(withRetryAfter([{ limit: 15, remaining: 0, reset: in_(-5) }], undefined, NOW)).toEqual(
      [],
    );
  });
});

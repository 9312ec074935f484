import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Ring } from './ring.js';

const ringOf = (samples: readonly number[], size = 32): Ring => {
  const ring = new Ring(size);
  for (const sample of samples) ring.add(sample);
  return ring;
};

describe('a ring of samples', () => {
  it('knows nothing before the first', () => {
    expect(new Ring(4).quantile(0.5)).toBeUndefined();
  });

  it('gives the middle of two, and of any number of equals the same', () => {
    expect(ringOf([30, 10]).quantile(0.5)).toBe(20);
    expect(ringOf(Array<number>(32).fill(7)).quantile(0.85)).toBe(7);
  });

  it('forgets the oldest when it is full', () => {
    const ring = ringOf([1000, 1000, 1, 2, 3, 4], 4);
    expect(ring.count).toBe(4);
    expect(ring.quantile(1)).toBe(4);
  });

  it('finds what sorting would find, and changes nothing by looking', () => {
    const samples = fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), {
      minLength: 1,
      maxLength: 64,
    });
    fc.assert(
      fc.property(samples, fc.double({ min: 0, max: 1, noNaN: true }), (values, q) => {
        const ring = ringOf(values, 64);
        const sorted = values.toSorted((a, b) => a - b);
        const place = q * (sorted.length - 1);
        const low = sorted[Math.floor(place)]!;
        const high = sorted[Math.ceil(place)]!;
        const expected = low + (high - low) * (place - Math.floor(place));
        expect(ring.quantile(q)).toBeCloseTo(expected, 6);
        expect(ring.quantile(q)).toBe(ring.quantile(q));
      }),
    );
  });
});

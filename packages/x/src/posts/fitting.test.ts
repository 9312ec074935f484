import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitToBudget } from '../text/strings.js';

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

describe('fitting', () => {
  it('leaves what fits as it is', () => {
    const posts = [{ id: '1', text: 'a', partial_errors: [{ reason: 'r' }] }];
    expect(fitToBudget(posts)).toBe(posts);
  });

  it('keeps every id and the beginning of every text, however much X says', () => {
    const text = fc
      .tuple(fc.string({ unit: 'grapheme', minLength: 1 }), fc.integer({ min: 1, max: 20_000 }))
      .map(([piece, times]) => piece.repeat(times).slice(0, 100_000));
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 25 }), (texts) => {
        const posts = texts.map((one, index) => ({ id: String(index), text: one }));
        const fitted = fitToBudget(posts);
        expect(bytesOf(fitted)).toBeLessThanOrEqual(40 * 1024);
        for (const [index, { id, text: shown }] of fitted.entries()) {
          const given = texts[index]!;
          expect(id).toBe(String(index));
          expect(shown === given || given.startsWith(shown.slice(0, -1))).toBe(true);
          expect(shown).not.toMatch(/[\uD800-\uDBFF]…$/);
        }
      }),
      { numRuns: 60 },
    );
  });
});

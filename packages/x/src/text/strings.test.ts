import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutText, fitToBudget, nfc, oneLine } from './strings.js';

const mark = fc.constantFrom('\u0301', '\u0316', '\u0345', '\u3099', '\u{1E8D0}', '\u{1D16D}');
const marked = fc.tuple(fc.constantFrom('e', '日', 'か', '\u1100\u1161', ''), mark, fc.nat(40));

describe('nfc', () => {
  it('equals String.normalize for texts with a usual number of marks', () => {
    const text = fc
      .array(marked, { maxLength: 60 })
      .map((all) => all.map(([letter, sign, times]) => letter + sign.repeat(times)).join('日'));
    fc.assert(
      fc.property(text, (one) => {
        expect(nfc(one)).toBe(one.normalize('NFC'));
      }),
    );
  });

  it('is canonically equivalent for any number of marks', () => {
    const text = fc
      .array(fc.tuple(mark, fc.integer({ min: 1, max: 900 })), { minLength: 1, maxLength: 4 })
      .map((all) => `e${all.map(([sign, times]) => sign.repeat(times)).join('')}`);
    fc.assert(
      fc.property(text, (one) => {
        expect(nfc(one).normalize('NFC')).toBe(one.normalize('NFC'));
      }),
    );
  });
});

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

describe('fitToBudget', () => {
  it('does not change posts that fit', () => {
    const posts = [{ id: '1', text: 'a', partial_errors: [{ reason: 'r' }] }];
    expect(fitToBudget(posts)).toBe(posts);
  });

  it('keeps every id and the beginning of every text', () => {
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

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** Reads a text part by part. */
function allParts(text: string): readonly string[] {
  const parts: string[] = [];
  let from: number | undefined = 0;
  while (from !== undefined && parts.length < 100) {
    const part: ReturnType<typeof cutText> = cutText({ id: '1', text }, from);
    parts.push(part.text);
    from = part.text_continues_at;
  }
  return parts;
}

describe('cutText', () => {
  it('does not change a post whose text fits', () => {
    const post = { id: '1', text: 'a'.repeat(25_000), lang: 'en' };
    expect(cutText(post)).toBe(post);
  });

  it('returns the whole text in parts that fit', () => {
    const letters = fc.constantFrom('語', 'д', '😀', '\u0001', '"', 'a', '\uD83D');
    const texts = fc.array(fc.tuple(letters, fc.nat(4_000)), { maxLength: 12 });
    fc.assert(
      fc.property(texts, (runs) => {
        const text = runs.map(([letter, times]) => letter.repeat(times)).join('');
        const parts = allParts(text);
        expect(parts.join('') === text).toBe(true);
        expect(Math.max(...parts.map(jsonBytes))).toBeLessThan(40_000);
        expect(parts.filter((part) => part === '').length).toBe(text === '' ? 1 : 0);
      }),
      { numRuns: 60 },
    );
  });

  it('does not split a surrogate pair', () => {
    const text = '😀'.repeat(12_500);
    for (const part of allParts(text)) expect(part).not.toMatch(/\p{Surrogate}/u);
    expect(cutText({ id: '1', text }, 3).text.startsWith('😀')).toBe(true);
  });

  it('is empty after the end', () => {
    expect(cutText({ id: '1', text: 'short' }, 900)).toEqual({ id: '1', text: '' });
  });
});

describe('oneLine', () => {
  it('does not cut inside a surrogate pair', () => {
    expect(oneLine('ab🚲cd', 4)).toBe('ab…');
    expect(oneLine('ab🚲cd', 5)).toBe('ab🚲…');
    expect(oneLine('ab🚲', 4)).toBe('ab🚲');
  });
});

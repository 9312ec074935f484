import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutText } from '../text/strings.js';

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** Read as an agent would: part after part. */
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

describe('textPart', () => {
  it('leaves a post as it is whose text fits', () => {
    const post = { id: '1', text: 'a'.repeat(25_000), lang: 'en' };
    expect(cutText(post)).toBe(post);
  });

  it('gives every letter of a text that X allows, in parts that fit', () => {
    const letters = fc.constantFrom('語', 'д', '😀', '\u0001', '"', 'a', '\uD83D');
    const texts = fc.array(fc.tuple(letters, fc.nat(4_000)), { maxLength: 12 });
    fc.assert(
      fc.property(texts, (runs) => {
        const text = runs.map(([letter, times]) => letter.repeat(times)).join('');
        const parts = allParts(text);
        expect(parts.join('') === text).toBe(true);
        expect(Math.max(...parts.map(bytesOf))).toBeLessThan(40_000);
        expect(parts.filter((part) => part === '').length).toBe(text === '' ? 1 : 0);
      }),
      { numRuns: 60 },
    );
  });

  it('does not begin or end inside of a letter', () => {
    const text = '😀'.repeat(12_500);
    for (const part of allParts(text)) expect(part).not.toMatch(/\p{Surrogate}/u);
    expect(cutText({ id: '1', text }, 3).text.startsWith('😀')).toBe(true);
  });

  it('has nothing behind the end', () => {
    expect(cutText({ id: '1', text: 'short' }, 900)).toEqual({ id: '1', text: '' });
  });
});

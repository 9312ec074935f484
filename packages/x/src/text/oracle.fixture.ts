import fc from 'fast-check';
import twitterText from 'twitter-text';
import { expect } from 'vitest';
import { weightedLength } from './weighted-length.js';

/** X's own library, in its last version. */
export const theirLength = (text: string): number => twitterText.parseTweet(text).weightedLength;

/** Links, domains, scripts, emoji and marks, for sentences that nobody would write. */
const pieces = [
  ['https://', 'http://', 'HTTPS://', 'www.', 'example', 'a', 'com', ':8080', 'https://t.co/'],
  ['.com', '.co.uk', '.jp', '.рф', '.みんな', '.xn--p1ai', '.invalid', '.c', 't.co/abc'],
  ['/', '/path', '(x)', '((y))', '(', ')', '?q=1', '?', '&', '#frag', '#', '@', '$', '%20'],
  ['_', '-', '.', ',', '…', '—', '“', '"', "'", '~', '[', ']', '+', '=', ';', '!', '|'],
  [' ', '\n', '\u3000', '\u200d', '\ufe0f', '\u200f', '\u2033', '\u2011'],
  ['é', 'e\u0301', 'ß', 'Ж', '日本', '語', '가', '\u1112\u1161\u11ab', 'ก', 'ب'],
  ['👍', '👍🏽', '👩‍👩‍👦', '👩‍👩‍👩', '🇩🇪', '🇩', '🏳️‍🌈', '1️⃣', '1⃣', '❤️', '❤', '©', '©️', '🫠'],
  [`https://t.co/${'x'.repeat(41)}`, 'a'.repeat(70)],
].flat();

const composed = fc
  .array(fc.constantFrom(...pieces), { maxLength: 14 })
  .map((parts) => parts.join(''));

export const anyText = fc
  .oneof(composed, fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }))
  .filter((text) => !/\p{Surrogate}/u.test(text));

export function expectAgreement(numRuns: number): void {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(weightedLength(text)).toBe(theirLength(text));
    }),
    { numRuns },
  );
}

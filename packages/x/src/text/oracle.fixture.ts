import fc from 'fast-check';
import twitterText from 'twitter-text';
import { expect } from 'vitest';
import { weightedLength } from './weighted-length.js';

/** X's own library, in its latest version. */
export const theirLength = (text: string): number => twitterText.parseTweet(text).weightedLength;

/** Links, domains, scripts, emoji and marks for generated texts. */
const pieces = [
  ['https://', 'http://', 'HTTPS://', 'www.', 'example', 'a', 'com', ':8080', 'https://t.co/'],
  ['.com', '.co.uk', '.jp', '.рф', '.みんな', '.xn--p1ai', '.invalid', '.c', 't.co/abc', 'xn--'],
  ['/', '/path', '(x)', '((y))', '(', ')', '?q=1', '?', '&', '#frag', '#', '@', '$', '%20'],
  ['_', '-', '.', ',', '…', '—', '“', '"', "'", '~', '[', ']', '+', '=', ';', '!', '|'],
  [' ', '\n', '\u3000', '\u200d', '\ufe0f', '\u200f', '\u2033', '\u2011', '\u0001', '\u180e'],
  ['é', 'e\u0301', 'ß', 'Ж', '日本', '語', '가', '\u1112\u1161\u11ab', 'ก', 'ب', '。', '．'],
  ['👍', '👍🏽', '👩‍👩‍👦', '👩‍👩‍👩', '🇩🇪', '🇩', '🏳️‍🌈', '1️⃣', '1⃣', '❤️', '❤', '©', '©️', '🫠'],
  [`https://t.co/${'x'.repeat(41)}`, 'a'.repeat(70), 'x'.repeat(30)],
].flat();

const joined = <T>(one: fc.Arbitrary<T>, { min, max }: { min: number; max: number }) =>
  fc.array(one, { minLength: min, maxLength: max }).map((parts) => parts.join(''));

/** Characters with and without emoji presentation, with skin tones, and parts of sequences. */
const bases = [
  ...'⚡⭐☕⚽❗⛔⬛⭕⌚🀄🈚♈😀🔥✅⏰⏩',
  ...'❤☎☀✈⬇🅰™©®‼ℹ㊗〰',
  ...'☝✌🕵⛹⛷🕴🖐👍👩👨🏃',
  ...'👁🗨🏳🏴🌈☠♀♂💋🚀1#*🇩🇪🇽',
];
const england = '\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}';
const joins = [
  '\ufe0f',
  '\ufe0e',
  '\u20e3',
  '\u{1F3FD}',
  '\u{1F3FB}',
  '\u200d',
  '\u200d♀\ufe0f',
  england,
];

/** Characters and modifiers in any order. */
const emojiText = fc
  .tuple(fc.constantFrom(...bases), joined(fc.constantFrom(...joins), { min: 0, max: 3 }))
  .map((parts) => parts.join(''));

/** Labels with a Punycode length near the DNS limit. */
const labels = [
  ['👨‍👩‍👧‍👦', '👩‍❤️‍💋‍👨', `🏴${england}`, '☎️', '😀'.repeat(9), 'ü'.repeat(7)],
  ['x'.repeat(30), 'x'.repeat(9), '日本', '.日', 'рф', '。', '\u0001', '日_日'],
  ['-', '_', '.', 'a.', 'a_b.', 'com.', 'xn--'],
].flat();

const host = fc
  .tuple(
    fc.constantFrom('', 'https://', 'xn--', '日 '),
    joined(fc.constantFrom(...labels), { min: 1, max: 6 }),
    fc.constantFrom('example.com', '.com', '.рф', '.xn--p1ai', 'a.com/', '.jp/x', 'com'),
    fc.constantFrom('', '日本', '/', '日.com', ' '),
  )
  .map((parts) => parts.join(''));

const composed = joined(
  fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...pieces) },
    { weight: 1, arbitrary: emojiText },
    { weight: 1, arbitrary: host },
  ),
  { min: 0, max: 14 },
);

export const anyText = fc
  .oneof(
    composed,
    host,
    joined(emojiText, { min: 1, max: 4 }),
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: 'binary' }),
  )
  .filter((text) => !/\p{Surrogate}/u.test(text));

const EMOJI = new RegExp('\\p{RGI_Emoji}', 'gv');

/** Emoji that its list of 2018 lacks. X counts all emoji as two. */
export function holdsNewerEmoji(text: string): boolean {
  return (text.normalize('NFC').match(EMOJI) ?? []).some((emoji) => theirLength(emoji) > 2);
}

export function expectAgreement(numRuns: number): void {
  fc.assert(
    fc.property(anyText, (text) => {
      const [ours, theirs] = [weightedLength(text), theirLength(text)];
      if (ours !== theirs && !holdsNewerEmoji(text)) expect([text, ours]).toEqual([text, theirs]);
    }),
    { numRuns },
  );
}

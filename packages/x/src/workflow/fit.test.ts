import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { weightedLength } from '../text/weighted-length.js';
import { cutToLength, plainText } from './fit.js';

describe('cutToLength', () => {
  it.each([
    ['It fits.', 20, 'It fits.'],
    ['One sentence. Two sentences. Three.', 29, 'One sentence. Two sentences.'],
    ['One sentence? Two', 14, 'One sentence?'],
    ['no sentence ends in here at all', 14, 'no sentence…'],
    ['unbreakable', 8, 'unbrea…'],
    ['日本語の文です。次の文です。', 18, '日本語の文です。'],
    ['👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦', 5, '👩‍👩‍👧‍👦…'],
  ])('%j at %d is %j', (text, limit, expected) => {
    expect(cutToLength(text, limit)).toBe(expected);
  });

  it('always fits, and never changes what fits', () => {
    const word = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('https://example.com/a/long/path', 'word', 'End.', 'What?', '\n'),
    );
    const texts = fc.array(word, { maxLength: 60 }).map((words) => words.join(' '));
    fc.assert(
      fc.property(texts, fc.integer({ min: 4, max: 280 }), (text, limit) => {
        const cut = cutToLength(text, limit);
        expect(weightedLength(cut)).toBeLessThanOrEqual(limit);
        if (weightedLength(text) <= limit) expect(cut).toBe(text);
        else expect(text.startsWith(cut.replace(/…$/, ''))).toBe(true);
      }),
    );
  });
});

it.each([
  ['  plain \n', 'plain'],
  ['"quoted"', 'quoted'],
  ['“quoted”', 'quoted'],
  ['"Yes" and "no"', '"Yes" and "no"'],
  ['```\ntext\n```', 'text'],
  ['```text\none\ntwo\n```', 'one\ntwo'],
  ['a\u0000b\uFEFF', 'ab'],
  ['"', '"'],
  ['', ''],
])('%j becomes %j', (answer, text) => {
  expect(plainText(answer)).toBe(text);
});

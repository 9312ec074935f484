import fc from 'fast-check';
import twitterText from 'twitter-text';
import { describe, expect, it } from 'vitest';
import { anyText } from './text/oracle.fixture.js';
import { countCashtags } from './tier.js';

describe('countCashtags', () => {
  it.each([
    ['$ABC', 1],
    ['buy $ABC and $abc.d, not $5', 2],
    ['$ABC $DEF_GH! ($XY)', 2],
    ['US$ABC $TOOLONGS $', 0],
    ['no money', 0],
    ['\u200e$ABC \u2066$ABC', 0],
    ['\u180e$ABC', 1],
  ])('of %j', (text, count) => {
    expect(countCashtags(text)).toBe(count);
  });

  it('agrees with X’s library for any character before or after a cashtag', () => {
    const texts = Array.from({ length: 0x3100 }, (_, code) => String.fromCodePoint(code)).flatMap(
      (letter) => [`${letter}$ABC`, `$ABC${letter}`],
    );
    const differing = texts.filter(
      (text) => countCashtags(text) !== twitterText.extractCashtags(text).length,
    );
    expect(differing).toEqual([]);
  });

  it('agrees with X’s library on generated text', () => {
    const piece = fc.constantFrom(
      '$',
      'AB',
      'abcdef',
      'g',
      '.',
      '_',
      ' ',
      '\n',
      ',',
      '!',
      '(',
      '"',
      '5',
      // Whitespace to X or not, and directional marks.
      ...'\t\u000b\u0085\u00a0\u1680\u180e\u2000\u200a\u200b\u2028\u202f\u205f\u3000\ufeff',
      ...'\u061c\u200e\u200f\u202a\u202e\u2066\u2069',
    );
    const written = fc.array(piece, { maxLength: 16 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.oneof(written, anyText), (text) => {
        expect(countCashtags(text)).toBe(twitterText.extractCashtags(text).length);
      }),
      { numRuns: 4_000 },
    );
  });
});

import fc from 'fast-check';
import twitterText from 'twitter-text';
import { describe, expect, it } from 'vitest';
import { countCashtags } from './cashtags.js';
import { anyText } from './oracle.fixture.js';

describe('countCashtags', () => {
  it.each([
    ['$ABC', 1],
    ['buy $ABC and $abc.d, not $5', 2],
    ['$ABC $DEF_GH! ($XY)', 2],
    ['US$ABC $TOOLONGS $', 0],
    ['no money', 0],
  ])('of %j', (text, count) => {
    expect(countCashtags(text)).toBe(count);
  });

  it('agrees with X’s own library', () => {
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
      '5',
    );
    const written = fc.array(piece, { maxLength: 16 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.oneof(written, anyText), (text) => {
        expect(countCashtags(text)).toBe(twitterText.extractCashtags(text).length);
      }),
      { numRuns: 2000 },
    );
  });
});

import fc from 'fast-check';
import twitterText from 'twitter-text';
import { describe, expect, it } from 'vitest';
import { findUrls, IN_BRACKETS, PATH_END, PATH_LETTER, pathEnd } from './urls.js';

/** A path as a single regular expression: correct, but slow for many parentheses. */
const PATH = new RegExp(
  `^/(?:${PATH_LETTER}*(?:${IN_BRACKETS}${PATH_LETTER}*)*${PATH_END}|${IN_BRACKETS})*`,
  'i',
);

const letters = [...'()a/!.?=-üдĿ\u0399–日 @_'];
const path = fc
  .string({ unit: fc.constantFrom(...letters, '(', ')', '(a)', '((a))', '(!)'), maxLength: 14 })
  .map((text) => `/${text}`);

describe('pathEnd', () => {
  it('agrees with a single regular expression', () => {
    fc.assert(
      fc.property(path, (text) => {
        expect(pathEnd(text, 0)).toBe(PATH.exec(text)?.[0].length);
      }),
      { numRuns: 5_000 },
    );
  });

  it('finds no path without a slash', () => {
    expect(pathEnd('a/b', 0)).toBeUndefined();
    expect(pathEnd('', 0)).toBeUndefined();
  });
});

describe('findUrls', () => {
  it.each(['https://a.com', 'a.com', 'a.com:80', '日a.com'])(
    'ends links after %s like X’s library',
    (host) => {
      fc.assert(
        fc.property(path, (behind) => {
          const text = `${host}${behind}`;
          const theirs = twitterText.extractUrlsWithIndices(text);
          expect(findUrls(text)).toEqual(
            theirs.map(({ indices: [start, end] }) => ({ start, end })),
          );
        }),
        { numRuns: 600 },
      );
    },
  );
});

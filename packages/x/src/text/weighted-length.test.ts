import fc from 'fast-check';
import twitterText from 'twitter-text';
import { describe, expect, it } from 'vitest';
import { anyText, expectAgreement, holdsNewerEmoji, theirLength } from './oracle.fixture.js';
import { findUrls } from './urls.js';
import { weightedLength } from './weighted-length.js';

const linksIn = (text: string) => findUrls(text).map(({ start, end }) => text.slice(start, end));

describe('weightedLength', () => {
  it('agrees with twitter-text on generated text', () => {
    expectAgreement(8_000);
  });

  it.each([
    ['Latin letters count one', 'añb', 3],
    ['Chinese, Japanese and Korean count two', '日本가', 6],
    ['a link counts 23, however long', `see https://example.com/${'x'.repeat(300)} now`, 31],
    ['a bare domain is a link', 'go to example.com', 29],
    ['an emoji counts two, whatever it is made of', '👩‍👩‍👦🏳️‍🌈🇩🇪👍🏽1️⃣', 10],
    ['what is composed counts once', 'e\u0301', 1],
    ['a dash counts one, an ellipsis two', '—…', 3],
    ['nothing counts nothing', '', 0],
  ])('%s', (_, text, length) => {
    expect(weightedLength(text)).toBe(length);
    expect(theirLength(text)).toBe(length);
  });

  it.each(['🐦‍⬛', '🙂‍↔️', '👩🏽‍🤝‍👨🏿', '🧑‍🚀', '👁️‍🗨️', '❤️‍🔥', '🫱🏻‍🫲🏿'])(
    'counts %s as two, although the library of 2020 does not know it',
    (emoji) => {
      expect(weightedLength(emoji)).toBe(2);
      expect(theirLength(emoji)).toBeGreaterThan(2);
    },
  );

  it.each(['amazon', 'kids', 'music', 'spa'])('knows .%s, which that library does not', (tld) => {
    expect(weightedLength(`a.${tld}`)).toBe(23);
    expect(theirLength(`a.${tld}`)).toBeLessThan(23);
  });

  it('is additive over a space between two texts', () => {
    fc.assert(
      fc.property(anyText, anyText, (one, other) => {
        const [a, b] = [`${one} `, ` ${other}`];
        expect(weightedLength(`${a}${b}`)).toBe(weightedLength(a) + weightedLength(b));
      }),
      { numRuns: 500 },
    );
  });
});

describe('findUrls', () => {
  it.each([
    ['https://example.com/a_(b)?q=1#f.', ['https://example.com/a_(b)?q=1#f']],
    ['http://a.com then https://b.com', ['http://a.com', 'https://b.com']],
    ['mail me@example.com', []],
    ['日本example.comです', ['example.com']],
    ['https://日本.jp/路', ['https://日本.jp/']],
    ['v1.2.3 and file.invalid', []],
    ['#tag.com @name.com', []],
    ['https://t.co/abc-def', ['https://t.co/abc']],
    ['https://a_b.com', []],
    ['https://a_b.c.com', ['https://a_b.c.com']],
    ['https://a.b_c.com.d_e.net', []],
    ['https://a.com.d_e.net', ['https://a.com']],
    ['https://_a.com https://a-.com', []],
    ['日_日a.com 日_日.a.com', ['a.com']],
    [`${'a.'.repeat(50)}com`, [`${'a.'.repeat(50)}com`]],
  ])('%s', (text, links) => {
    expect(linksIn(text)).toEqual(links);
    expect(twitterText.extractUrls(text)).toEqual(links);
  });

  it.each(['https://a.com/', 'http://a.com/', 'a.com/', '日a.com/', 'a.com?'])(
    'makes no link of a URL that starts with %s and exceeds the limit of X’s library',
    (begin) => {
      const lengths = Array.from({ length: 30 }, (_, index) => 4_060 + index);
      const differing = lengths.filter((length) => {
        const text = `${begin}${'x'.repeat(length)}`;
        return linksIn(text).length !== twitterText.extractUrls(text).length;
      });
      expect(differing).toEqual([]);
      expect(linksIn(`${begin}${'x'.repeat(4_000)}`)).toHaveLength(1);
      expect(linksIn(`${begin}${'x'.repeat(4_096)}`)).toHaveLength(0);
    },
  );
});

/** TuitBot counted in three different, wrong ways. */
describe('the three length rules of TuitBot', () => {
  it('first: letters instead of weights, and links found out of order', () => {
    expect(weightedLength('語'.repeat(141))).toBe(282);
    // It searched https links before http links.
    const text = `http://example.com/${'a'.repeat(300)} https://example.com`;
    expect(weightedLength(text)).toBe(47);
  });

  it('second: bytes, and links at their full length', () => {
    expect(weightedLength('é'.repeat(280))).toBe(280);
    expect(weightedLength(`https://example.com/${'a'.repeat(300)}`)).toBe(23);
  });

  it('third: bytes, with links at 23', () => {
    expect(weightedLength(`${'é'.repeat(256)} https://example.com/${'a'.repeat(300)}`)).toBe(280);
  });
});

const LAST_OF_EMOJI = 0x1faff;
const all = Array.from({ length: LAST_OF_EMOJI + 1 }, (_, code) => code)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))
  .filter((sign) => /\p{Emoji}/u.test(sign));

const JOINED_WOMAN = '\u200d\u2640\ufe0f';

describe('emoji', () => {
  it('are all tested', () => {
    expect(all.length).toBeGreaterThan(1_400);
  });

  it.each([
    ['nothing', ''],
    ['the selector of the picture', '\ufe0f'],
    ['the selector of the letter', '\ufe0e'],
    ['a keycap', '\u20e3'],
    ['a colour of skin', '\u{1F3FD}'],
    ['a selector and a keycap', '\ufe0f\u20e3'],
    ['a selector and a colour', '\ufe0f\u{1F3FD}'],
    ['a colour and a selector', '\u{1F3FD}\ufe0f'],
    ['two selectors', '\ufe0f\ufe0f'],
    ['a woman', JOINED_WOMAN],
    ['a selector and a woman', `\ufe0f${JOINED_WOMAN}`],
    ['a colour and a woman', `\u{1F3FD}${JOINED_WOMAN}`],
    ['a woman as a letter', '\u200d\u2640'],
  ])('count as in X’s library with %s after them', (_, behind) => {
    const differing = all
      .map((sign) => `${sign}${behind}`)
      .filter((text) => weightedLength(text) !== theirLength(text));
    // Only emoji that the library does not know.
    expect(differing.filter((text) => !holdsNewerEmoji(text))).toEqual([]);
    expect(differing.filter((text) => weightedLength(text) >= theirLength(text))).toEqual([]);
  });

  it.each([...'⚡⭐☕⚽⚾❗⛔⚪⚫⬛⬜⭕⌚⌛🀄♈♓'])(
    'with a variation selector, such as %s, count as two',
    (sign) => {
      expect(weightedLength(`${sign}\ufe0f`.repeat(140))).toBe(280);
    },
  );

  it('without a variation selector count the selector separately', () => {
    expect(weightedLength('😀\ufe0f')).toBe(4);
  });
});

describe('letters', () => {
  it('count as in X’s library, each of the first 13,000', () => {
    const letters = Array.from({ length: 0x3400 }, (_, code) => String.fromCodePoint(code));
    const differing = letters.filter((letter) => weightedLength(letter) !== theirLength(letter));
    expect(differing).toEqual([]);
  });
});

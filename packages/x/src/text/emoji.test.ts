import { describe, expect, it } from 'vitest';
import { holdsNewerEmoji, theirLength } from './oracle.fixture.js';
import { weightedLength } from './weighted-length.js';

const LAST_OF_EMOJI = 0x1faff;
const all = Array.from({ length: LAST_OF_EMOJI + 1 }, (_, code) => code)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))
  .filter((sign) => /\p{Emoji}/u.test(sign));

const JOINED_WOMAN = '\u200d\u2640\ufe0f';

describe('emoji', () => {
  it('are all looked at', () => {
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
  ])('each with %s behind it count as for X’s own library', (_, behind) => {
    const differing = all
      .map((sign) => `${sign}${behind}`)
      .filter((text) => weightedLength(text) !== theirLength(text));
    // Only emoji that it does not know: they count two, and whatever follows them as it does elsewhere.
    expect(differing.filter((text) => !holdsNewerEmoji(text))).toEqual([]);
    expect(differing.filter((text) => weightedLength(text) >= theirLength(text))).toEqual([]);
  });

  it.each([...'⚡⭐☕⚽⚾❗⛔⚪⚫⬛⬜⭕⌚⌛🀄♈♓'])(
    'as a keyboard writes %s, with a selector behind it, counts two',
    (sign) => {
      expect(weightedLength(`${sign}\ufe0f`.repeat(140))).toBe(280);
    },
  );

  it('which take no selector count two, and the selector two', () => {
    expect(weightedLength('😀\ufe0f')).toBe(4);
  });
});

describe('letters', () => {
  it('count as for X’s own library, each of the first 13,000 by itself', () => {
    const letters = Array.from({ length: 0x3400 }, (_, code) => String.fromCodePoint(code));
    const differing = letters.filter((letter) => weightedLength(letter) !== theirLength(letter));
    expect(differing).toEqual([]);
  });
});

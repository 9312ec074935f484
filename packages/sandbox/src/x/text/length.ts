import { findLinks } from './entities.js';

/** The length of a t.co link. */
const LINK = 23;

/** The code points that count as one; all others count as two. */
const light: readonly (readonly [number, number])[] = [
  [0, 4351],
  [8192, 8205],
  [8208, 8223],
  [8242, 8247],
];

/** Emoji after which a variation selector counts as a character of its own. */
const withoutSelector = '⏩-⏬⏰⏳⛎✅✊✋✨❌❎❓-❕➕-➗➰➿';
const withSelector = String.raw`[[\p{Emoji_Presentation}&&[\0-\uFFFF🀄🈚🈯]]--[${withoutSelector}]]\uFE0F`;
/** Built from a string, because the compile target does not support the `v` flag. */
const emoji = new RegExp(String.raw`${withSelector}|\p{RGI_Emoji}`, 'gv');

const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length;

/** The weighted length of a post. */
export function weightedLength(text: string): number {
  const normal = text.normalize('NFC');
  let [total, from] = [0, 0];
  for (const { start, end } of findLinks(normal)) {
    total += weigh(normal.slice(from, start)) + LINK;
    from = end;
  }
  return total + weigh(normal.slice(from));
}

function weigh(text: string): number {
  if (isAscii(text)) return text.length;
  let total = 0;
  const rest = text.replaceAll(emoji, () => {
    total += 2;
    return '';
  });
  for (const character of rest) {
    const code = character.codePointAt(0) ?? 0;
    total += light.some(([first, last]) => code >= first && code <= last) ? 1 : 2;
  }
  return total;
}

import { findLinks } from './entities.js';

/** Any link is replaced by one of this length. */
const LINK = 23;

/** Scripts of which a character says as much as half of another: these count one, all others two. */
const light: readonly (readonly [number, number])[] = [
  [0, 4351],
  [8192, 8205],
  [8208, 8223],
  [8242, 8247],
];

/** Signs that came into the world as emoji. All others in colour may be asked for it once more. */
const born = '⏩-⏬⏰⏳⛎✅✊✋✨❌❎❓-❕➕-➗➰➿';
const asked = String.raw`[[\p{Emoji_Presentation}&&[\0-\uFFFF🀄🈚🈯]]--[${born}]]\uFE0F`;
/** Made from text: the compiler does not know the flag for the language version that we aim at. */
const emoji = new RegExp(String.raw`${asked}|\p{RGI_Emoji}`, 'gv');

const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length;

/** The length of a post as X counts it. */
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

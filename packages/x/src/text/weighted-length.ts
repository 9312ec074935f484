import { findUrls } from './urls.js';

/** X shortens every link to this many characters, however long it is. */
const URL_LENGTH = 23;
const HEAVY = 2;

/** Emoji that are drawn as one, however many code points they have; keycaps also without U+FE0F. */
// A literal would need a newer target: only `v` knows emoji that are sequences.
const EMOJI = new RegExp('\\p{RGI_Emoji}|[0-9#*]\\u20E3|\\u{1F441}\\u200D\\u{1F5E8}', 'vy');
/**
 * Where one of several code points may begin: a flag, or something that is joined, coloured or tagged. One
 * alone weighs what its code point does, and asking EMOJI, a list of thousands, for each would be slow.
 */
const JOINS = '\\uFE0F|\\u200D|\\u20E3|[\\u{1F3FB}-\\u{1F3FF}]|[\\u{E0020}-\\u{E007F}]';
const SEQUENCE = new RegExp(`\\p{RI}|\\p{Emoji}(?:${JOINS})`, 'uy');
const MAY_HAVE_SEQUENCES = new RegExp(`\\p{RI}|${JOINS}`, 'u');

/** Latin and its neighbours, and the punctuation that goes with them. All else counts twice. */
function weightOf(codePoint: number): number {
  const isLight =
    codePoint <= 0x10ff ||
    (codePoint >= 0x2000 && codePoint <= 0x200d) ||
    (codePoint >= 0x2010 && codePoint <= 0x201f) ||
    (codePoint >= 0x2032 && codePoint <= 0x2037);
  return isLight ? 1 : HEAVY;
}

/**
 * How long X takes a text to be: NFC, links 23, emoji 2, Latin letters 1, others 2. X allows 280,
 * and more to accounts that pay for it.
 */
export function weightedLength(text: string): number {
  const normal = text.normalize('NFC');
  let length = 0;
  let at = 0;
  for (const { start, end } of findUrls(normal)) {
    length += lengthWithoutUrls(normal.slice(at, start)) + URL_LENGTH;
    at = end;
  }
  return length + lengthWithoutUrls(normal.slice(at));
}

function lengthWithoutUrls(text: string): number {
  const hasSequences = MAY_HAVE_SEQUENCES.test(text);
  let length = 0;
  let at = 0;
  while (at < text.length) {
    const emoji = hasSequences ? sequenceAt(text, at) : undefined;
    if (emoji !== undefined) {
      length += HEAVY;
      at += emoji.length;
      continue;
    }
    const codePoint = text.codePointAt(at) ?? 0;
    length += weightOf(codePoint);
    at += codePoint > 0xffff ? 2 : 1;
  }
  return length;
}

function sequenceAt(text: string, at: number): string | undefined {
  SEQUENCE.lastIndex = at;
  if (!SEQUENCE.test(text)) return undefined;
  EMOJI.lastIndex = at;
  return EMOJI.exec(text)?.[0];
}

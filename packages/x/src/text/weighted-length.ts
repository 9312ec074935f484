import { nfc } from './strings.js';
import { findUrls, type Span } from './urls.js';

/** X counts every link as this many characters. */
const URL_LENGTH = 23;
const HEAVY = 2;

/** Latin and similar scripts, and common punctuation, count once; everything else counts twice. */
function weightOf(codePoint: number): number {
  const isLight =
    codePoint <= 0x10ff ||
    (codePoint >= 0x2000 && codePoint <= 0x200d) ||
    (codePoint >= 0x2010 && codePoint <= 0x201f) ||
    (codePoint >= 0x2032 && codePoint <= 0x2037);
  return isLight ? 1 : HEAVY;
}

/** The length of a post as X counts it: in NFC, a link as 23, an emoji as 2, Latin letters as 1, others as 2. */
export function weightedLength(text: string): number {
  const normal = nfc(text);
  const links = findUrls(normal).values();
  const emoji = emojiSequences(normal).values();
  let [link, sequence] = [links.next().value, emoji.next().value];
  let length = 0;
  for (let at = 0; at < normal.length;) {
    // An emoji sequence that starts inside a link is counted by code point after the link.
    while (sequence && sequence.start < at) sequence = emoji.next().value;
    if (link?.start === at) {
      length += URL_LENGTH;
      at = link.end;
      link = links.next().value;
    } else if (sequence?.start === at) {
      length += HEAVY;
      at = sequence.end;
    } else {
      const codePoint = normal.codePointAt(at) ?? 0;
      length += weightOf(codePoint);
      at += codePoint > 0xffff ? 2 : 1;
    }
  }
  return length;
}

/**
 * Characters with emoji presentation that predate emoji. twemoji, by which X counts, treats a following
 * U+FE0F as part of these characters and of no others with emoji presentation.
 */
const WITH_SELECTOR = '⌚⌛◽◾☔☕♈-♓♿⚓⚡⚪⚫⚽⚾⛄⛅⛔⛪⛲⛳⛵⛺⛽❗⬛⬜⭐⭕🀄🈚🈯';
const SKIN = '\\u{1F3FB}-\\u{1F3FF}';

/**
 * Emoji of several code points: those of `RGI_Emoji`, and those that only twemoji knows: a selector before a
 * skin tone, and three other sequences. Matching `RGI_Emoji` is slow, so each part has a cheap lookahead.
 */
// Not a literal, because the `v` flag requires a newer compile target.
const EMOJI = new RegExp(
  [
    `(?=\\p{Emoji}[\\uFE0F${SKIN}]?\\u200D\\p{Emoji})(?:\\p{RGI_Emoji_ZWJ_Sequence}|👁\\u200D🗨)`,
    `🕴[\\uFE0F${SKIN}]\\u200D[♀♂]\\uFE0F`,
    `(?=\\p{Emoji_Modifier_Base}[${SKIN}])\\p{RGI_Emoji_Modifier_Sequence}`,
    `⛷[${SKIN}]`,
    `[☝⛷⛹✌✍🏋🏌🕴🕵🖐]\\uFE0F[${SKIN}]`,
    `[[\\p{Emoji}--[\\p{Emoji_Presentation}0-9#*]]${WITH_SELECTOR}]\\uFE0F`,
    '[0-9#*]\\uFE0F?\\u20E3',
    '(?=\\p{RI})\\p{RGI_Emoji_Flag_Sequence}',
    '\\p{RGI_Emoji_Tag_Sequence}',
  ].join('|'),
  'vy',
);

/** The possible start of an emoji sequence: a flag, or an emoji with a joiner, skin tone or tag. */
const JOINS = `[\\uFE0F\\u200D\\u20E3${SKIN}\\u{E0020}-\\u{E007F}]`;
const SEQUENCE_START = new RegExp(`\\p{RI}|\\p{Emoji}${JOINS}`, 'gu');

/** The emoji sequences of a text in order, including keycaps without U+FE0F. */
function emojiSequences(text: string): readonly Span[] {
  const found: Span[] = [];
  SEQUENCE_START.lastIndex = 0;
  for (let match; (match = SEQUENCE_START.exec(text));) {
    const { index: start } = match;
    EMOJI.lastIndex = start;
    const isEmoji = EMOJI.test(text);
    const end = isEmoji ? EMOJI.lastIndex : start + (text.codePointAt(start)! > 0xffff ? 2 : 1);
    if (isEmoji) found.push({ start, end });
    SEQUENCE_START.lastIndex = end;
  }
  return found;
}

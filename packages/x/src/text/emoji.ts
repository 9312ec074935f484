import type { Span } from './span.js';

/**
 * Older than emoji and yet drawn in colour without being asked to. Keyboards write U+FE0F behind them
 * all the same, and twemoji, by which X counts, takes it for a part of these signs and of no others.
 */
const WITH_SELECTOR = '⌚⌛◽◾☔☕♈-♓♿⚓⚡⚪⚫⚽⚾⛄⛅⛔⛪⛲⛳⛵⛺⛽❗⬛⬜⭐⭕🀄🈚🈯';
const SKIN = '\\u{1F3FB}-\\u{1F3FF}';

/**
 * What is drawn as one: all of `RGI_Emoji` that has several code points, and what twemoji knows besides,
 * a selector before the colour of skin and three that nobody recommends. `RGI_Emoji` itself is a list of
 * thousands and slow, so a part of it is asked only where a look ahead shows that it can help.
 */
// A literal would need a newer target: only `v` knows emoji that are sequences.
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

/**
 * Where one of several code points may begin: a flag, or something that is joined, coloured or tagged. One
 * alone weighs what its code point does.
 */
const JOINS = `[\\uFE0F\\u200D\\u20E3${SKIN}\\u{E0020}-\\u{E007F}]`;
const BEGINNING = new RegExp(`\\p{RI}|\\p{Emoji}${JOINS}`, 'gu');

/** The emoji of several code points that are drawn as one, in order; keycaps also without U+FE0F. */
export function emojiSequences(text: string): readonly Span[] {
  const found: Span[] = [];
  BEGINNING.lastIndex = 0;
  for (let match; (match = BEGINNING.exec(text));) {
    const { index: start } = match;
    EMOJI.lastIndex = start;
    const isEmoji = EMOJI.test(text);
    const end = isEmoji ? EMOJI.lastIndex : start + (text.codePointAt(start)! > 0xffff ? 2 : 1);
    if (isEmoji) found.push({ start, end });
    BEGINNING.lastIndex = end;
  }
  return found;
}

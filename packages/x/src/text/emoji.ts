import type { Span } from './span.js';

/**
 * Older than emoji and yet drawn in colour without being asked to. Keyboards write U+FE0F behind them
 * all the same, and twemoji, by which X counts, takes it for a part of these signs and of no others.
 */
const WITH_SELECTOR = '⌚⌛◽◾☔☕♈-♓♿⚓⚡⚪⚫⚽⚾⛄⛅⛔⛪⛲⛳⛵⛺⛽❗⬛⬜⭐⭕🀄🈚🈯';
const SKIN = '\\u{1F3FB}-\\u{1F3FF}';

// A literal would need a newer target: only `v` knows emoji that are sequences.
const EMOJI = new RegExp(
  [
    `[${WITH_SELECTOR}]\\uFE0F`,
    // What twemoji knows besides: a selector before the colour, and three that no list recommends.
    `[☝⛷⛹✌✍🏋🏌🕴🕵🖐]\\uFE0F[${SKIN}]`,
    `⛷[${SKIN}]`,
    `🕴[\\uFE0F${SKIN}]\\u200D[♀♂]\\uFE0F`,
    '👁\\u200D🗨',
    '\\p{RGI_Emoji}',
    '[0-9#*]\\u20E3',
  ].join('|'),
  'vy',
);

/**
 * Where one of several code points may begin: a flag, or something that is joined, coloured or tagged. One
 * alone weighs what its code point does, and asking EMOJI, a list of thousands, for each would be slow.
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

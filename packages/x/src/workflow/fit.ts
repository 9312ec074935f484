import { weightedLength } from '../text/weighted-length.js';

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });
const characters = new Intl.Segmenter('en', { granularity: 'grapheme' });

const ELLIPSIS = '…';

/**
 * Cuts a text to a weighted length: after the last sentence that fits, else after the last word, else
 * after the last character. Only a cut inside a sentence is marked.
 */
export function cutToLength(text: string, limit: number): string {
  if (weightedLength(text) <= limit) return text;
  const whole = longestPrefix(ends(sentences, text), (end) => text.slice(0, end).trimEnd(), limit);
  if (whole !== '') return whole;
  const marked = (end: number): string => `${text.slice(0, end).trimEnd()}${ELLIPSIS}`;
  const words = [...text.matchAll(/\s+/gu)].map(({ index }) => index).filter((at) => at > 0);
  const cut = longestPrefix(words, marked, limit);
  return cut === '' ? longestPrefix(ends(characters, text), marked, limit) : cut;
}

function ends(segmenter: Intl.Segmenter, text: string): readonly number[] {
  return Array.from(segmenter.segment(text), ({ index, segment }) => index + segment.length);
}

/** The longest text that fits, by bisection; empty if none does. */
function longestPrefix(
  positions: readonly number[],
  textTo: (end: number) => string,
  limit: number,
): string {
  let best = '';
  for (let [low, high] = [0, positions.length - 1]; low <= high;) {
    const middle = (low + high) >> 1;
    const text = textTo(positions[middle]!);
    const fits = weightedLength(text) <= limit;
    if (fits) best = text;
    [low, high] = fits ? [middle + 1, high] : [low, middle - 1];
  }
  return best;
}

const QUOTES: readonly (readonly [string, string])[] = [
  ['"', '"'],
  ['“', '”'],
  ['«', '»'],
  ['「', '」'],
];
const FENCE = /^```[a-z]*\s*\n([\s\S]*?)\n?```$/u;

/** Removes what models put around a text, and characters that X does not accept. */
export function plainText(answer: string): string {
  const trimmed = answer.replaceAll(/[\uFFFE\uFEFF\uFFFF]|(?![\n\t])\p{Cc}/gu, '').trim();
  const text = FENCE.exec(trimmed)?.[1]?.trim() ?? trimmed;
  const quotes = QUOTES.find(([open, close]) => text.startsWith(open) && text.endsWith(close));
  if (!quotes || text.length < 2) return text;
  const inner = text.slice(1, -1);
  // Quotation marks inside belong to the text, and so do the outer ones then.
  return inner.includes(quotes[0]) || inner.includes(quotes[1]) ? text : inner.trim();
}

import type { Scalar } from '../config.js';

/** Longer strings are not inspected, to bound the time: the result of a test is then unknown. */
export const MAX_TEXT = 1_000_000;

/** NFKC without invisible characters: `ｅｘ\u200bample` becomes `example`. */
export function plain(text: string): string {
  if (!/[^\x20-\x7e\t\n\r]/.test(text)) return text; // most strings
  return nfkc(text).replaceAll(/[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu, '');
}

/** For comparison: lower case, with runs of whitespace as one space. */
export function fold(text: string): string {
  return plain(text).toLowerCase().replaceAll(/\s+/g, ' ');
}

/** More combining marks than any real character carries, and few enough to sort quickly. */
const MAX_MARKS = 512;
/** Combining marks; NFKC turns the last two into combining marks. */
const MARKS = /[\p{M}\uFF9E\uFF9F]+/gu;

/**
 * Normalization sorts the marks of one character in quadratic time, so long runs of marks are
 * normalized in pieces.
 */
function nfkc(text: string): string {
  if (text.length <= MAX_MARKS) return text.normalize('NFKC');
  const pieces: string[] = [];
  let at = 0;
  for (const { 0: marks, index } of text.matchAll(MARKS)) {
    for (let end = index + MAX_MARKS; end < index + marks.length; end += MAX_MARKS) {
      pieces.push(text.slice(at, end));
      at = end;
    }
  }
  return [...pieces, text.slice(at)].map((piece) => piece.normalize('NFKC')).join('');
}

/**
 * A pattern in which `*` matches any characters. The parts between stars are searched once, from left
 * to right, so the time is linear; a regular expression would not guarantee that.
 */
export function glob(pattern: string): (text: string) => boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return (text) => text === pattern;
  const between = rest.filter((part) => part !== '');
  return (text) => {
    const end = text.length - last.length;
    if (!text.startsWith(first) || !text.endsWith(last) || end < first.length) return false;
    let from = first.length;
    for (const part of between) {
      const found = text.indexOf(part, from);
      if (found === -1 || found + part.length > end) return false;
      from = found + part.length;
    }
    return true;
  };
}

export const quote = (value: Scalar): string => JSON.stringify(value);

/** `"a"`, `"a" or "b"`; of more than four values, the first three and a count. */
export function formatList(values: readonly Scalar[]): string {
  const shown = values.length > 4 ? values.slice(0, 3) : values;
  const hidden = values.length - shown.length;
  const parts = [...shown.map(quote), ...(hidden > 0 ? [`${hidden} more`] : [])];
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} or ${parts.at(-1)}`;
}

/** Counts code points, not UTF-16 units. */
export const characters = (text: string): number => Array.from(text).length;

const MAX_SHOWN_LENGTH = 40;

/** The values of an argument, short enough for a sentence; undefined without any. */
export function formatValues(values: readonly unknown[]): string | undefined {
  if (values.length === 0) return undefined;
  const shown = values.slice(0, 3).map(formatValue).join(', ');
  return values.length > 3 ? `${shown} and ${values.length - 3} more` : shown;
}

function formatValue(value: unknown): string {
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') return 'an object';
  return value.length > MAX_SHOWN_LENGTH
    ? `a string of ${characters(value)} characters`
    : quote(value);
}

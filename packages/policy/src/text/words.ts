import type { Scalar } from '../config/types.js';

export const quote = (value: Scalar): string => JSON.stringify(value);

/** `"a"`, `"a" or "b"`, and of more than four only the first three. */
export function listWords(values: readonly Scalar[]): string {
  const shown = values.length > 4 ? values.slice(0, 3) : values;
  const hidden = values.length - shown.length;
  const words = [...shown.map(quote), ...(hidden > 0 ? [`${hidden} more`] : [])];
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

/** Characters, not halves of them. */
export const characters = (text: string): number => Array.from(text).length;

const SHOWN_TEXT = 40;

/** What was found, short enough for a sentence; undefined if nothing was. */
export function shownValues(values: readonly unknown[]): string | undefined {
  if (values.length === 0) return undefined;
  const shown = values.slice(0, 3).map(shownValue).join(', ');
  return values.length > 3 ? `${shown} and ${values.length - 3} more` : shown;
}

function shownValue(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') return 'an object';
  return value.length > SHOWN_TEXT ? `a text of ${characters(value)} characters` : quote(value);
}

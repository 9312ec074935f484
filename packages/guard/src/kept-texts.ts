import type { Frame, Id } from './frame.js';
import { elementTexts, inexactNumbers, rewriteJson } from './json-text.js';
import type { Answered } from './router.js';

/** Results and items of lists as their servers wrote them, if JavaScript would change a number in them. */
const texts = new WeakMap<object, string>();

/** Remembers how parts of a frame are written. */
export function keepTexts(items: readonly object[], { message, line }: Frame): void {
  if (inexactNumbers(line).length === 0) return;
  const written = elementTexts(rewriteJson(items, message, line));
  for (const [at, item] of items.entries()) texts.set(item, written[at] ?? JSON.stringify(item));
}

/** The response to a client, with the items of lists as their servers wrote them. */
export function answerFrame(id: Id, answered: Answered): Frame {
  const message = { jsonrpc: '2.0', id, ...answered } as const;
  const text = 'result' in answered ? textOfResult(answered.result) : undefined;
  if (text === undefined) return { message, line: JSON.stringify(message) };
  return { message, line: `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${text}}` };
}

/** Undefined if nothing in it has to keep its text. */
function textOfResult(result: Readonly<Record<string, unknown>>): string | undefined {
  if (isKept(result)) return textOf(result);
  const lists = Object.values(result).filter(Array.isArray);
  if (!lists.some((list: readonly unknown[]) => list.some(isKept))) return undefined;
  const members = Object.entries(result).map(([name, value]) => {
    const text = Array.isArray(value) ? `[${value.map(textOf).join(',')}]` : JSON.stringify(value);
    return `${JSON.stringify(name)}:${text}`;
  });
  return `{${members.join(',')}}`;
}

function isKept(item: unknown): boolean {
  return typeof item === 'object' && item !== null && texts.has(item);
}

function textOf(item: unknown): string {
  const kept = typeof item === 'object' && item !== null ? texts.get(item) : undefined;
  return kept ?? JSON.stringify(item);
}

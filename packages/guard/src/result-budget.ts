import { isObject } from './frame.js';
import type { KeptResult, ResultKeeper } from './kept-results.js';

type Members = Readonly<Record<string, unknown>>;

const encoder = new TextEncoder();
/** The share of a page in which a line break is preferred to a full page. */
const SEARCHED_SHARE = 0.25;

/** The length of the first part of a text: at most so many bytes, until a line or a word ends. */
export function cutAt(text: string, bytes: number): number {
  const { read } = encoder.encodeInto(text, new Uint8Array(bytes));
  if (read >= text.length) return text.length;
  const from = Math.floor(read * (1 - SEARCHED_SHARE));
  for (const separator of ['\n', ' ']) {
    const at = text.lastIndexOf(separator, read - 1);
    if (at >= from) return at + 1;
  }
  return read;
}

interface CutOptions {
  readonly tool: string;
  readonly keeper: ResultKeeper;
  /** Writes a part of the result as JSON. */
  readonly write: (value: unknown) => string;
}

/**
 * Cuts the text of a result that exceeds its budget, and keeps the rest. Undefined: nothing is to be cut.
 * Images, audio and embedded resources are not text and stay.
 */
export function cutResult(
  result: Members,
  budget: number,
  { tool, keeper, write }: CutOptions,
): Members | undefined {
  const { structuredContent, ...rest } = result;
  const content = contentOf(result);
  const structured = isObject(structuredContent) ? write(structuredContent) : '';
  const isStructuredLarge = Buffer.byteLength(structured) > budget;
  // It is dropped: part of an object is of no use. Its text is the same, or takes its place.
  const values = isObject(structuredContent) ? Object.values(structuredContent) : [];
  const isRepeated = content.some((block) => {
    const text = textOf(block) ?? '';
    const isMain = text.length > structured.length / 2 && values.includes(text);
    return isMain || isSameJson(text, structured);
  });
  const isMissing = isStructuredLarge && !isRepeated;
  const blocks = isMissing ? [...content, { type: 'text', text: structured }] : content;
  const texts = blocks.flatMap((block) => textOf(block) ?? []);
  const total = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (total <= budget) return isStructuredLarge ? { ...rest, content: blocks } : undefined;
  const shown: unknown[] = [];
  const hidden: string[] = [];
  let left = budget;
  for (const block of blocks) {
    const text = textOf(block);
    if (text === undefined) shown.push(block);
    else if (hidden.length > 0) hidden.push(text);
    else {
      const at = left > 0 ? cutAt(text, left) : 0;
      if (at > 0) shown.push({ ...(block as Members), text: text.slice(0, at) });
      left -= Buffer.byteLength(text.slice(0, at));
      if (at < text.length) hidden.push(text.slice(at));
    }
  }
  const kept = keeper.keep(hidden.join('\n'), budget);
  const note = { type: 'text', text: noteOf(kept, budget - left, total) };
  const link = kept && keeper.canLink ? [linkTo(kept, tool)] : [];
  return {
    ...rest,
    content: [...shown, note, ...link],
    ...(structuredContent !== undefined && !isStructuredLarge && { structuredContent }),
  };
}

function noteOf(kept: KeptResult | undefined, shown: number, total: number): string {
  const cut = `[The guard cut this result: ${shown} of ${total} bytes are shown.`;
  if (!kept) return `${cut} The rest is too large to be kept. Ask for less.]`;
  const pages = kept.pages === 1 ? 'one page' : `${kept.pages} pages`;
  return `${cut} The rest has ${pages}; read ${kept.uri} for the first of them, or ask for less.]`;
}

function linkTo({ uri, bytes, pages, minutes }: KeptResult, tool: string): Members {
  return {
    type: 'resource_link',
    uri,
    name: `rest of ${tool}`,
    description: `The rest of this result in ${pages} page${pages === 1 ? '' : 's'}. Expires after ${minutes} minutes.`,
    mimeType: 'text/plain',
    size: bytes,
  };
}

export function contentOf({ content }: Members): readonly unknown[] {
  return Array.isArray(content) ? (content as readonly unknown[]) : [];
}

export function textOf(block: unknown): string | undefined {
  if (!isObject(block) || block['type'] !== 'text') return undefined;
  return typeof block['text'] === 'string' ? block['text'] : undefined;
}

/** Whether a text is this JSON, in whatever form. */
export function isSameJson(text: string | undefined, json: string): boolean {
  try {
    return text === json || (text !== undefined && JSON.stringify(JSON.parse(text)) === json);
  } catch {
    return false;
  }
}

import type { Post } from '../provider/model.js';

/** Leaves room for the rest of an answer. X allows longer texts where letters take several bytes. */
const MOST_BYTES = 32 * 1024;
const CHUNK = 1024;

/** As much of a post's text as an answer can hold, from a position on, and where it goes on. */
export function textPart<P extends Post>(post: P, from = 0): P {
  const { text } = post;
  const start = beforePair(text, Math.min(from, text.length));
  const end = partEnd(text, start);
  if (start === 0 && end === text.length) return post;
  return {
    ...post,
    text: text.slice(start, end),
    ...(end < text.length && { text_continues_at: end }),
  };
}

function partEnd(text: string, start: number): number {
  let room = MOST_BYTES;
  let end = start;
  while (end < text.length) {
    const next = beforePair(text, Math.min(end + CHUNK, text.length));
    // As it is written in JSON, where some letters become longer.
    room -= Buffer.byteLength(JSON.stringify(text.slice(end, next)));
    if (room < 0) return end;
    end = next;
  }
  return end;
}

/** Not between the halves of a letter. */
function beforePair(text: string, at: number): number {
  const isLow = /[\uDC00-\uDFFF]/.test(text[at] ?? '');
  return isLow && /[\uD800-\uDBFF]/.test(text[at - 1] ?? '') ? at - 1 : at;
}

import type { Post } from '../model.js';
import type { Posted } from '../posts/read-back.js';

/** More combining marks than real text has on one letter, and few enough to sort fast. */
const MAX_MARKS = 512;

/**
 * Normalizes in linear time. Sorting the combining marks of one letter takes quadratic time, so long
 * runs of marks are sorted in chunks.
 */
export function nfc(text: string, form: 'NFC' | 'NFKC' = 'NFC'): string {
  if (text.length <= MAX_MARKS) return text.normalize(form);
  let result = '';
  let at = 0;
  for (const { 0: marks, index } of text.matchAll(/\p{M}+/gu)) {
    for (let end = index + MAX_MARKS; end < index + marks.length; end += MAX_MARKS) {
      // A cut inside a surrogate pair is harmless: `normalize` leaves the halves unchanged.
      result += text.slice(at, end).normalize(form);
      at = end;
    }
  }
  return `${result}${text.slice(at).normalize(form)}`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' };

/** X escapes only these three entities. */
export function unescapeHtml(text: string): string {
  return text.replaceAll(/&(?:amp|lt|gt);/g, (entity) => ENTITIES[entity] ?? entity);
}

/** One line of at most `limit` characters, without control characters. */
export function oneLine(text: string, limit: number): string {
  const line = text.replaceAll(/[\p{C}\s]+/gu, ' ').trim();
  if (line.length <= limit) return line;
  return `${line.slice(0, beforePair(line, limit - 1)).trimEnd()}…`;
}

/** Leaves room for the rest of the response. */
const TEXT_BUDGET_BYTES = 32 * 1024;

/** Cuts the texts of posts to the response budget, and keeps every id. */
export function fitToBudget(posts: readonly Posted[]): readonly Posted[] {
  if (bytesOf(posts) <= TEXT_BUDGET_BYTES) return posts;
  const each = Math.floor(TEXT_BUDGET_BYTES / posts.length / 2);
  return posts.map(({ id, text }) => ({ id, text: cut(text, each) }));
}

function cut(text: string, room: number): string {
  if (bytesOf(text) <= room) return text;
  let kept = text.slice(0, room);
  for (let bytes = bytesOf(kept); bytes > room; bytes = bytesOf(kept)) {
    kept = kept.slice(0, Math.floor((kept.length * room) / bytes));
  }
  return `${kept.replace(/[\uD800-\uDBFF]$/, '')}…`;
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

const CHUNK = 1024;

/** Cuts the text of a post to the response budget, from a position on; `text_continues_at` is the next one. */
export function cutText<P extends Post>(post: P, from = 0): P {
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
  let room = TEXT_BUDGET_BYTES;
  let end = start;
  while (end < text.length) {
    const next = beforePair(text, Math.min(end + CHUNK, text.length));
    // As JSON, where some characters are longer.
    room -= Buffer.byteLength(JSON.stringify(text.slice(end, next)));
    if (room < 0) return end;
    end = next;
  }
  return end;
}

/** Moves a position off the middle of a surrogate pair. */
function beforePair(text: string, at: number): number {
  const isLow = /[\uDC00-\uDFFF]/.test(text[at] ?? '');
  return isLow && /[\uD800-\uDBFF]/.test(text[at - 1] ?? '') ? at - 1 : at;
}

import type { Posted } from './read-back.js';

/** With what stands around it this fits into an answer, so that no id is lost for the sake of a text. */
const ROOM_BYTES = 32 * 1024;

/** Posts as an answer shows them. Where there is too much to show, the ids stay and the texts are cut. */
export function fitting(posts: readonly Posted[]): readonly Posted[] {
  if (bytesOf(posts) <= ROOM_BYTES) return posts;
  const each = Math.floor(ROOM_BYTES / posts.length / 2);
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

import { createHash } from 'node:crypto';
import * as z from 'zod';
import { textOf, type Doc } from '../json.js';

/** What the pages of a list held, in short: it travels in a token from one call to the next. */
export const trailSchema = z.strictObject({
  /** How many pages there were. */
  pages: z.int().min(1),
  /** One page far back, which moves up each time that the number of pages has doubled. */
  anchor: z.string(),
  /** The pages directly before, the newest last. */
  recent: z.array(z.string()),
});

export type Trail = Readonly<z.output<typeof trailSchema>>;

const MAX_RECENT = 6;

/**
 * Whether a page has come before, whatever its address was. Short circles are noticed at once. A
 * longer one is noticed because its pages come by the anchor again before the anchor moves on.
 */
export function isOnTrail(entries: readonly Doc[], trail: Trail | undefined): boolean {
  if (!trail || entries.length === 0) return false;
  const mark = markOf(entries);
  return mark === trail.anchor || trail.recent.includes(mark);
}

/** The trail with one page more. An empty page leaves none: a list may have gaps. */
export function further(trail: Trail | undefined, entries: readonly Doc[]): Trail | undefined {
  if (entries.length === 0) return trail;
  const mark = markOf(entries);
  if (!trail) return { pages: 1, anchor: mark, recent: [mark] };
  const pages = trail.pages + 1;
  const isPowerOfTwo = (pages & (pages - 1)) === 0;
  return {
    pages,
    anchor: isPowerOfTwo ? mark : trail.anchor,
    recent: [...trail.recent, mark].slice(-MAX_RECENT),
  };
}

/** An id names an item only inside its collection. */
function markOf(entries: readonly Doc[]): string {
  const names = entries.map((one) => [textOf(one['collection']) ?? '', textOf(one['id']) ?? '']);
  return createHash('sha256').update(JSON.stringify(names)).digest('base64url').slice(0, 8);
}

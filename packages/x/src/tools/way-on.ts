import { createHash } from 'node:crypto';
import type { Page } from '../provider/provider.js';
import type { PageCursor } from './specs/paging.js';

/** So many steps back a circle is noticed: each leaves its token and its page. */
const REMEMBERED = 2 * 24;
/** X may give an empty page in the middle of a list, but not one after the other. */
const MAX_EMPTY = 10;

interface WayOn {
  readonly next: PageCursor | undefined;
  /** Whether there is a way, and it leads nowhere new. */
  readonly repeats: boolean;
}

/** Where a list goes on behind a page of X's: not by a token, nor from a page, that was there before. */
export function wayOn<T extends { readonly id: string }>(
  { items, nextToken }: Page<T>,
  cursor: PageCursor | undefined,
): WayOn {
  if (nextToken === undefined) return { next: undefined, repeats: false };
  const { seen = [], t: token, empty: before = 0 } = cursor ?? {};
  const page = items.length === 0 ? undefined : markOf(items.map(({ id }) => id).join(' '));
  const empty = page === undefined ? before + 1 : 0;
  const used = token === undefined ? seen : [...seen, markOf(token)];
  const isKnown = used.includes(markOf(nextToken)) || (page !== undefined && seen.includes(page));
  if (isKnown || empty >= MAX_EMPTY) return { next: undefined, repeats: true };
  const all = page === undefined ? used : [...used, page];
  const next = { t: nextToken, seen: all.slice(-REMEMBERED), ...(empty > 0 && { empty }) };
  return { next, repeats: false };
}

/** Short, for it travels in our token. */
function markOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 8);
}

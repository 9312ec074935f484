import { page, rateLimitMeta } from '@toolkeel/contract';
import type { RateLimitInfo } from '@toolkeel/kernel';
import type { PartialError } from '../provider/model.js';
import type { Page, PageQuery } from '../provider/provider.js';
import { wayOn } from './way-on.js';
import type { PageCursor } from './specs/paging.js';

interface Wanted {
  readonly max_results: number;
  /** The least that X lets us ask for. */
  readonly least?: number;
}

interface Shown<T> {
  readonly items: readonly T[];
  readonly partialErrors: readonly PartialError[];
  readonly limits: readonly RateLimitInfo[];
  readonly next: PageCursor | undefined;
  readonly after: (kept: number) => PageCursor;
}

/**
 * One page, as many items as were asked for. X's pages may be larger than that, or than our answers
 * may be: then the rest of X's page comes with the next token.
 */
export async function fetchPage<T extends { readonly id: string }>(
  fetch: (query: PageQuery) => Promise<Page<T>>,
  { max_results: wanted, least = 1 }: Wanted,
  cursor: PageCursor | undefined,
): Promise<Shown<T>> {
  const maxResults = cursor?.n ?? Math.max(wanted, least);
  const found = await fetch({ maxResults, paginationToken: cursor?.t });
  const rest = cursor?.after === undefined ? found.items : itemsAfter(found.items, cursor.after);
  const { next, repeats } = wayOn(found, cursor);
  if (rest.length === 0 && found.items.length > 0 && next) {
    return fetchPage(fetch, { max_results: wanted, least }, next);
  }
  const items = rest.slice(0, wanted);
  const after = (kept: number): PageCursor => ({
    ...(cursor?.t !== undefined && { t: cursor.t }),
    ...(cursor?.seen && { seen: cursor.seen }),
    after: items[kept - 1]?.id ?? '',
    n: maxResults,
  });
  const { limits } = found;
  const isCut = items.length < rest.length;
  const partialErrors = repeats && !isCut ? [...found.partialErrors, REPEATS] : found.partialErrors;
  return { items, partialErrors, limits, after, next: isCut ? after(items.length) : next };
}

const REPEATS: PartialError = {
  reason: 'pages_repeat',
  message:
    'X leads back to a page that it gave before, or from one empty page to the next. The list ends here; there may be more that X does not show.',
};

/** If the item is gone by now, the whole page: shown twice is better than not shown. */
function itemsAfter<T extends { readonly id: string }>(items: readonly T[], id: string) {
  return items.slice(items.findIndex((item) => item.id === id) + 1);
}

export function pageAnswer<T, const Name extends string>(
  name: Name,
  { items, partialErrors, limits, next, after }: Shown<T>,
) {
  const data = { [name]: items, partial_errors: partialErrors } as Record<Name, readonly T[]> & {
    readonly partial_errors: readonly PartialError[];
  };
  return page(data, { next, after, rateLimit: shortWindow(limits) });
}

/** What `meta.rate_limit` shows: the window of this endpoint, not the day's. */
export function shortWindow(limits: readonly RateLimitInfo[]) {
  const info = limits.find(({ name }) => name === undefined);
  return info && rateLimitMeta(info);
}

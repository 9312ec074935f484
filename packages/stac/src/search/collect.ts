import { FaultError } from '@toolkeel/kernel';
import type { Catalog } from '../api/catalog.js';
import type { Client } from '../api/client.js';
import { within, type Scope } from '../scope.js';
import type { Criteria } from './criteria.js';
import { searchItems, type Found, type SearchOptions } from './search.js';

export interface CollectOptions extends SearchOptions {
  /** The share of the remaining time that pages after the first may take. */
  readonly shareOfTime: number;
  /** Whether the items so far fill the answer, so that further pages would be read in vain. */
  readonly isFull?: (items: Found['items']) => boolean;
}

/** What servers give out as one page: most refuse or cut larger ones. */
export const PAGE_SIZE = 500;
const MAX_PAGES = 20;

/** Items of as many pages as the limit needs. What one answer has no room for is kept for the next. */
export function collectItems(
  client: Client,
  catalog: Catalog,
  criteria: Criteria,
  options: CollectOptions,
  scope: Scope,
): Promise<Found> {
  return client.foundItems.page([catalog.name, criteria], options, () =>
    readPages(client, catalog, criteria, options, scope),
  );
}

/**
 * A search over as many pages as its limit needs. The first page must succeed; a later one that
 * fails, or comes too late, leaves the items before it and a cursor that continues there.
 */
async function readPages(
  client: Client,
  catalog: Catalog,
  criteria: Criteria,
  { limit, cursor, shareOfTime, isFull = () => false }: CollectOptions,
  scope: Scope,
): Promise<Found> {
  const landing = await client.landing(catalog, scope);
  // Each page of a static catalogue is a walk of its own.
  const pageSize = landing.kind === 'static' ? limit : PAGE_SIZE;
  const begun = client.now();
  const stopAt = begun + (scope.deadline - begun) * shareOfTime;
  const more = (left: number, at: SearchOptions['cursor'], pageScope: Scope) => {
    const options = { limit: Math.min(left, pageSize), cursor: at };
    return searchItems(client, catalog, criteria, options, pageScope);
  };
  const pages = [await more(limit, cursor, scope)];
  const warnings = new Set(pages[0]!.warnings);
  let items = pages[0]!.items;
  let { next } = pages[0]!;
  while (next && items.length < limit && pages.length < MAX_PAGES && !isFull(items)) {
    if (client.now() >= stopAt) break;
    try {
      const page = await more(limit - items.length, next, within(scope, { deadline: stopAt }));
      for (const warning of page.warnings) warnings.add(warning);
      pages.push(page);
      items = items.concat(page.items);
      next = page.next;
    } catch (cause) {
      if (!(cause instanceof FaultError)) throw cause;
      scope.signal.throwIfAborted();
      warnings.add('A further page could not be read; the list continues there.');
      break;
    }
  }
  const last = pages.at(-1)!;
  const matched = pages.find((page) => page.matched !== undefined)?.matched;
  return {
    items,
    ...(matched !== undefined && { matched }),
    warnings: [...warnings],
    endsEarly: last.endsEarly === true,
    ...(next && { next }),
    after: (kept) => cursorAfter(pages, kept),
  };
}

function cursorAfter(pages: readonly Found[], kept: number) {
  let before = 0;
  for (const page of pages) {
    if (kept < before + page.items.length) return page.after(kept - before);
    before += page.items.length;
  }
  const last = pages.at(-1)!;
  return last.after(last.items.length);
}

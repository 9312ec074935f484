import { FaultError } from '@toolkeel/kernel';
import type { Catalog } from '../api/catalogs.js';
import type { Client } from '../api/client.js';
import { type CallContext, within } from '../call-context.js';
import type { Criteria } from './criteria.js';
import { type Found, searchItems, type SearchOptions } from './search.js';
import type { Doc } from '../json.js';
import type { Cursor } from './cursor.js';

interface CollectOptions extends SearchOptions {
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
  scope: CallContext,
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
  scope: CallContext,
): Promise<Found> {
  const landing = await client.landing(catalog, scope);
  // Each page of a static catalogue is a walk of its own.
  const pageSize = landing.kind === 'static' ? limit : PAGE_SIZE;
  const begun = client.now();
  const stopAt = begun + (scope.deadline - begun) * shareOfTime;
  const more = (left: number, at: SearchOptions['cursor'], pageScope: CallContext) => {
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

/** Some items of a search, as many as a bounded number of pages has. */
export interface Sample {
  readonly items: readonly Doc[];
  readonly matched: number | null;
  /** Whether these are all that match. */
  readonly complete: boolean;
  readonly warnings: readonly string[];
}

const SAMPLE_PAGE_SIZE = 250;
/** With the landing page, three requests in sequence. */
const SAMPLE_MAX_PAGES = 2;
const SAMPLE_SHARE_OF_TIME = 0.7;

/** What counting needs, so that pages stay small where the server can leave the rest out. */
const COUNTED = {
  include: ['id', 'collection', 'bbox', 'properties'],
  exclude: ['links', 'assets', 'geometry'],
};

export async function sampleItems(
  client: Client,
  catalog: Catalog,
  criteria: Criteria,
  scope: CallContext,
): Promise<Sample> {
  const lean = { ...criteria, fields: COUNTED };
  const items: Doc[] = [];
  const warnings: string[] = [];
  let matched: number | null = null;
  let cursor: Cursor | undefined;
  let endsEarly = false;
  let pageScope = scope;
  for (let pages = 0; pages < SAMPLE_MAX_PAGES; pages++) {
    try {
      const found = await searchItems(
        client,
        catalog,
        lean,
        { limit: SAMPLE_PAGE_SIZE, cursor },
        pageScope,
      );
      items.push(...found.items);
      for (const warning of found.warnings) if (!warnings.includes(warning)) warnings.push(warning);
      matched = found.matched ?? matched;
      scope.progress({ progress: pages + 1, total: SAMPLE_MAX_PAGES, message: 'reading items to count' });
      cursor = found.next;
      endsEarly = found.endsEarly === true;
    } catch (cause) {
      // The first page is the answer's ground; the second only makes it broader.
      if (pages === 0 || !(cause instanceof FaultError)) throw cause;
      warnings.push('The second page could not be read; the sample is smaller.');
      return { items, matched, complete: false, warnings };
    }
    if (!cursor) return { items, matched, complete: !endsEarly && isAll(items, matched), warnings };
    const now = client.now();
    pageScope = within(scope, { deadline: now + (scope.deadline - now) * SAMPLE_SHARE_OF_TIME });
  }
  return { items, matched, complete: false, warnings };
}

/** A list that ended before all that the server counted is not complete. */
function isAll(items: readonly Doc[], matched: number | null): boolean {
  return matched === null || items.length >= matched;
}

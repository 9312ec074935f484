import { FaultError } from '@toolkeel/kernel';
import type { JsonObject } from '@toolkeel/pack-kit';
import type { CatalogCall } from '../api/catalog-call.js';
import type { Criteria } from './criteria.js';
import type { Cursor } from './cursor.js';
import { searchItems, type SearchOptions, type SearchResult } from './search.js';

interface CollectOptions extends SearchOptions {
  /** The share of the remaining time that pages after the first may take. */
  readonly shareOfTime: number;
  /** Whether the items fill the result, so that no further page is needed. */
  readonly isFull?: (items: SearchResult['items']) => boolean;
}

/** Most servers reject or cut larger pages. */
export const PAGE_SIZE = 500;
const MAX_PAGES = 20;

/** Collects items from as many pages as the limit needs. */
export function collectItems(
  call: CatalogCall,
  criteria: Criteria,
  options: CollectOptions,
): Promise<SearchResult> {
  return call.client.itemBuffer.page([call.catalog.name, criteria], options, () =>
    readPages(call, criteria, options),
  );
}

/**
 * The first page must succeed. If a later page fails or is late, the result has the items before it and a
 * cursor that continues there.
 */
async function readPages(
  call: CatalogCall,
  criteria: Criteria,
  { limit, cursor, shareOfTime, isFull = () => false }: CollectOptions,
): Promise<SearchResult> {
  const landing = await call.landing();
  // Every page of a static catalogue needs a walk.
  const pageSize = landing.kind === 'static' ? limit : PAGE_SIZE;
  const limited = call.withTimeShare(shareOfTime);
  const readPage = (left: number, at: SearchOptions['cursor'], pageCall: CatalogCall) => {
    const options = { limit: Math.min(left, pageSize), cursor: at };
    return searchItems(pageCall, criteria, options);
  };
  const pages = [await readPage(limit, cursor, call)];
  const warnings = new Set(pages[0]!.warnings);
  let items = pages[0]!.items;
  let { next } = pages[0]!;
  while (next && items.length < limit && pages.length < MAX_PAGES && !isFull(items)) {
    if (call.now() >= limited.context.deadline) break;
    try {
      const page = await readPage(limit - items.length, next, limited);
      for (const warning of page.warnings) warnings.add(warning);
      pages.push(page);
      items = items.concat(page.items);
      next = page.next;
    } catch (cause) {
      if (!(cause instanceof FaultError)) throw cause;
      call.context.signal.throwIfAborted();
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

function cursorAfter(pages: readonly SearchResult[], kept: number) {
  let before = 0;
  for (const page of pages) {
    if (kept < before + page.items.length) return page.after(kept - before);
    before += page.items.length;
  }
  const last = pages.at(-1)!;
  return last.after(last.items.length);
}

/** The items of the first pages of a search. */
export interface Sample {
  readonly items: readonly JsonObject[];
  readonly matched: number | null;
  /** Whether the sample contains all matching items. */
  readonly complete: boolean;
  readonly warnings: readonly string[];
}

const SAMPLE_PAGE_SIZE = 250;
/** Three sequential requests, including the landing page. */
const SAMPLE_MAX_PAGES = 2;
const SAMPLE_SHARE_OF_TIME = 0.7;

/** Requests only the members that statistics need. */
const SAMPLE_FIELDS = {
  include: ['id', 'collection', 'bbox', 'properties'],
  exclude: ['links', 'assets', 'geometry'],
};

export async function sampleItems(call: CatalogCall, criteria: Criteria): Promise<Sample> {
  const projected = { ...criteria, fields: SAMPLE_FIELDS };
  const items: JsonObject[] = [];
  const warnings: string[] = [];
  let matched: number | null = null;
  let cursor: Cursor | undefined;
  let endsEarly = false;
  let pageCall = call;
  for (let pages = 0; pages < SAMPLE_MAX_PAGES; pages++) {
    try {
      const result = await searchItems(pageCall, projected, { limit: SAMPLE_PAGE_SIZE, cursor });
      items.push(...result.items);
      for (const warning of result.warnings)
        if (!warnings.includes(warning)) warnings.push(warning);
      matched = result.matched ?? matched;
      call.context.progress({
        progress: pages + 1,
        total: SAMPLE_MAX_PAGES,
        message: 'reading items to count',
      });
      cursor = result.next;
      endsEarly = result.endsEarly === true;
    } catch (cause) {
      // Only the first page is required.
      if (pages === 0 || !(cause instanceof FaultError)) throw cause;
      warnings.push('The second page could not be read; the sample is smaller.');
      return { items, matched, complete: false, warnings };
    }
    if (!cursor) return { items, matched, complete: !endsEarly && isAll(items, matched), warnings };
    pageCall = call.withTimeShare(SAMPLE_SHARE_OF_TIME);
  }
  return { items, matched, complete: false, warnings };
}

/** A list that ends before the reported number of matches is incomplete. */
function isAll(items: readonly JsonObject[], matched: number | null): boolean {
  return matched === null || items.length >= matched;
}

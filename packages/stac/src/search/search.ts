import { FaultError } from '@toolkeel/kernel';
import type { JsonObject } from '@toolkeel/pack-kit';
import type { CatalogCall } from '../api/catalog-call.js';
import type { LandingPage } from '../api/landing.js';
import { searchStatic } from '../static/search.js';
import type { Criteria } from './criteria.js';
import {
  appendToTrail,
  fitsToken,
  isRepeatedPage,
  packCursor,
  unpackCursor,
  type Cursor,
  type PageTrail,
} from './cursor.js';
import {
  diagnose,
  explainRejection,
  missingCollections,
  unseenProperties,
  type KnownCollections,
} from './diagnose.js';
import { TOKEN_TOO_LONG, type FetchedList } from './page-buffer.js';
import { fetchPage, repeatsSecret, requestDigest, type Page, type PageRequest } from './page.js';
import { firstRequest, isTooLongForGet, planSearch, type SearchPlan } from './plan.js';
import { matchesQuery } from './query.js';
import { otherPrefix, sortbyParameter, type SortKey } from './sort.js';

/** Items of a search, and where the list continues. */
export interface SearchResult extends FetchedList {
  /** The total number of matches, if the server reports it. */
  readonly matched?: number;
  /** The collections that a search of a static catalogue read. */
  readonly known?: KnownCollections;
}

export interface SearchOptions {
  readonly limit: number;
  readonly cursor?: Cursor | undefined;
}

/** The number of pages without a match that one call skips. */
const MAX_HOPS = 2;
/** Lists may have gaps, but an endless list of empty pages must end. */
const MAX_EMPTY_PAGES = 5;
export const LOOP = 'The catalogue returned a page again; the list ends here.';
const ENDLESS = 'The catalogue returned too many empty pages; the list ends here.';
export const REPEATS_SECRET =
  'There is more, but the next link of the catalogue contains a credential, so it cannot be returned.';

/** Searches items: one page of at most `limit` items. */
export function searchItems(
  call: CatalogCall,
  criteria: Criteria,
  options: SearchOptions,
): Promise<SearchResult> {
  return call.client.itemBuffer.page([call.catalog.name, criteria], options, () =>
    fetchItems(call, criteria, options),
  );
}

/** Adds warnings about collections and properties that the catalogue does not have. */
async function fetchItems(
  call: CatalogCall,
  criteria: Criteria,
  options: SearchOptions,
): Promise<SearchResult> {
  const landing = await call.landing();
  const isFirst = options.cursor === undefined;
  const diagnosis = (known?: KnownCollections) => diagnose(call, landing, criteria, known);
  try {
    const result = await runSearch(call, landing, criteria, options);
    const { items, known } = result;
    // A requested collection without items in the result may not exist.
    const unseenCollections = async () => {
      const returned = new Set(items.map((item) => item['collection']));
      const unseen = (criteria.collections ?? []).filter((id) => !returned.has(id));
      if (unseen.length === 0) return [];
      return missingCollections(call, landing, unseen);
    };
    const isProjected = criteria.fields !== undefined && landing.capabilities.has('fields');
    const notes =
      isFirst && items.length === 0
        ? await diagnosis(known)
        : [
            ...unseenProperties(items, criteria, isProjected),
            ...(isFirst && !isProjected ? await unseenCollections() : []),
          ];
    return notes.length > 0 ? { ...result, warnings: [...result.warnings, ...notes] } : result;
  } catch (cause) {
    if (!isFirst) throw cause;
    return explainRejection(cause, diagnosis);
  }
}

/** The page may have more items than the limit, because servers may ignore it. */
async function runSearch(
  call: CatalogCall,
  landing: LandingPage,
  criteria: Criteria,
  options: SearchOptions,
): Promise<SearchResult> {
  if (landing.kind === 'static') {
    return searchStatic(call, landing, criteria, options);
  }
  const plan = planSearch(landing, criteria, call.client.mayPost(call.catalog, landing));
  const search = new PagedSearch(plan, call, options);
  return search.run(() => fetchFirstPage(call, criteria, plan, options.limit));
}

/** Fetches the first page by POST if the catalogue offers it, else by GET. */
async function fetchFirstPage(
  call: CatalogCall,
  criteria: Criteria,
  plan: SearchPlan,
  limit: number,
): Promise<Page> {
  const get = firstRequest(plan, limit, false);
  const request = plan.post ? firstRequest(plan, limit, true) : get;
  return fetchPage(request, call).catch((cause: unknown) => {
    const status = (cause instanceof FaultError && cause.fault.status) || 0;
    if (request.method === 'POST' && [404, 405, 501].includes(status) && !isTooLongForGet(get)) {
      call.client.notePostRejected(call.catalog);
      return fetchPage(get, call);
    }
    if ((status !== 400 && status !== 422) || !criteria.sortby) throw cause;
    // Some servers sort by `datetime`, others by `properties.datetime`, and reject the other name.
    const sortby = otherPrefix(criteria.sortby);
    const other = firstRequest(withSortby(plan, sortby), limit, request.method === 'POST');
    return fetchPage(other, call).catch(() => {
      throw cause;
    });
  });
}

function withSortby(plan: SearchPlan, sortby: readonly SortKey[]): SearchPlan {
  const parameters = new Map([...plan.parameters, ['sortby', sortbyParameter(sortby)] as const]);
  return { ...plan, body: { ...plan.body, sortby }, parameters };
}

class PagedSearch {
  readonly #plan: SearchPlan;
  readonly #call: CatalogCall;
  readonly #options: SearchOptions;
  readonly #warnings: string[];
  #endsEarly = false;
  /** Cursors store the difference to this request, which has the GET parameters and the POST body. */
  readonly #reference: PageRequest;

  constructor(plan: SearchPlan, call: CatalogCall, options: SearchOptions) {
    this.#plan = plan;
    this.#call = call;
    this.#options = options;
    this.#warnings = [...plan.warnings];
    const { url } = firstRequest(plan, options.limit, false);
    url.searchParams.delete('limit');
    this.#reference = { method: 'POST', url, body: plan.body };
  }

  async run(first: () => Promise<Page>): Promise<SearchResult> {
    const { cursor } = this.#options;
    const seen = [...(cursor?.seen ?? [])];
    let page = cursor
      ? await fetchPage(unpackCursor(cursor, this.#reference), this.#call)
      : await first();
    const skip = cursor?.skip ?? 0;
    let matches = this.#matchesIn(page, skip);
    let trail = cursor?.trail;
    let empty = cursor?.empty ?? 0;
    for (let hops = 0; ; hops++) {
      empty = page.items.length > 0 ? 0 : empty + 1;
      // The rest of a partly delivered page is already in the trail.
      const isRest = hops === 0 && skip > 0;
      // The same items under another token are a loop that the URL does not show.
      if (!isRest && isRepeatedPage(page.items, trail)) {
        this.#endEarly(LOOP);
        return this.#result({ ...page, items: [] }, [], { seen, trail, empty }, undefined);
      }
      const next = this.#nextOf(page, seen);
      if (matches.length > 0 || !next || hops >= MAX_HOPS) {
        const isEndless = next !== undefined && empty > MAX_EMPTY_PAGES;
        if (isEndless) this.#endEarly(ENDLESS);
        return this.#result(page, matches, { seen, trail, empty }, isEndless ? undefined : next);
      }
      seen.push(requestDigest(page.request));
      trail = appendToTrail(trail, page.items);
      page = await fetchPage(next, this.#call);
      matches = this.#matchesIn(page, 0);
    }
  }

  /** Ends the list although the server reports more. */
  #endEarly(warning: string): void {
    this.#warnings.push(warning);
    this.#endsEarly = true;
  }

  #matchesIn(page: Page, skip: number): readonly Match[] {
    const { localQuery } = this.#plan;
    return page.items
      .map((item, index) => ({ item, index }))
      .filter(
        ({ item, index }) => index >= skip && (!localQuery || matchesQuery(item, localQuery)),
      );
  }

  #nextOf(page: Page, seen: readonly string[]): PageRequest | undefined {
    const { next } = page;
    if (!next) return undefined;
    if (repeatsSecret(next, this.#call.catalog.secrets)) {
      this.#endEarly(REPEATS_SECRET);
      return undefined;
    }
    const digest = requestDigest(next);
    if (digest !== requestDigest(page.request) && !seen.includes(digest)) return next;
    this.#endEarly(LOOP);
    return undefined;
  }

  #result(
    page: Page,
    matches: readonly Match[],
    { seen, trail, empty }: Progress,
    next: PageRequest | undefined,
  ): SearchResult {
    const nextCursor =
      next &&
      packCursor(next, this.#reference, {
        seen: [...seen, requestDigest(page.request)],
        trail: appendToTrail(trail, page.items),
        empty,
      });
    const cursorInPage = (skip: number): Cursor =>
      packCursor(page.request, this.#reference, { skip, seen, trail });
    const usable = nextCursor && this.#ifFitsToken(nextCursor);
    const { matched } = page;
    return {
      items: matches.map(({ item }) => item),
      ...(matched !== undefined && !this.#plan.localQuery && { matched }),
      warnings: this.#warnings,
      endsEarly: this.#endsEarly,
      ...(usable && { next: usable }),
      after: (kept) => {
        const at = matches[kept];
        return at ? cursorInPage(at.index) : (usable ?? cursorInPage(page.items.length));
      },
    };
  }

  #ifFitsToken(cursor: Cursor): Cursor | undefined {
    if (fitsToken(cursor)) return cursor;
    this.#endEarly(TOKEN_TOO_LONG);
    return undefined;
  }
}

interface Match {
  readonly item: JsonObject;
  /** The position in the server's page. */
  readonly index: number;
}

/** The state of the list before a page. */
interface Progress {
  readonly seen: readonly string[];
  readonly trail: PageTrail | undefined;
  readonly empty: number;
}

import { FaultError } from '@toolkeel/kernel';
import type { Catalog } from '../api/catalogs.js';
import type { Client } from '../api/client.js';
import type { Landing } from '../api/landing.js';
import type { Doc } from '../json.js';
import type { CallContext } from '../call-context.js';
import { searchStatic } from '../static/search.js';
import type { Criteria } from './criteria.js';
import { type Cursor, fitsToken, further, isOnTrail, packCursor, type Trail, unpackCursor } from './cursor.js';
import {
  diagnose,
  explainRejection,
  missingCollections,
  unseenProperties,
  type SeenCollections,
} from './diagnose.js';
import { type Fetching, fetchPage, identityOf, type Page, type PageRequest, repeatsSecret, tryPage } from './page.js';
import { TOKEN_TOO_LONG, type FetchedList } from './leftovers.js';
import { firstRequest, isTooLongForGet, planSearch, type SearchPlan } from './plan.js';
import { meetsQuery } from './query.js';
import { otherPrefix } from './sort.js';

/** Some items of a search, and where it goes on. */
export interface Found extends FetchedList {
  /** How many there are in all, where the server says so. */
  readonly matched?: number;
  /** Collections that the search came across, where it reads files. */
  readonly seen?: SeenCollections;
}

export interface SearchOptions {
  readonly limit: number;
  readonly cursor?: Cursor | undefined;
}

/** Pages without a hit that one call looks behind. */
const MAX_HOPS = 2;
/** A server may end a list with an empty page, or have gaps; it may not lead us on for ever. */
const MAX_EMPTY_PAGES = 5;
export const LOOP =
  'The catalogue led back to a page that it had given before; the list ends here.';
const ENDLESS = 'The catalogue gave one empty page after the other; the list ends here.';
export const REPEATS_SECRET =
  'There is more, but the catalogue’s reference to it repeats a credential, so it is not handed out.';

/** One page of a search: at most `limit` items. */
export function searchItems(
  client: Client,
  catalog: Catalog,
  criteria: Criteria,
  options: SearchOptions,
  scope: CallContext,
): Promise<Found> {
  return client.foundItems.page([catalog.name, criteria], options, () =>
    fetchItems(client, catalog, criteria, options, scope),
  );
}

/** One page with warnings about collections and properties that the catalogue does not have. */
async function fetchItems(
  client: Client,
  catalog: Catalog,
  criteria: Criteria,
  options: SearchOptions,
  scope: CallContext,
): Promise<Found> {
  const landing = await client.landing(catalog, scope);
  const isFirst = options.cursor === undefined;
  const diagnosis = (seen?: SeenCollections) =>
    diagnose(client, catalog, landing, criteria, scope, seen);
  try {
    const found = await fetchPageOf(client, catalog, landing, criteria, options, scope);
    const { items, seen } = found;
    // A named collection of which no item came may be one that the catalogue does not have.
    const unseenCollections = async () => {
      const had = new Set(items.map((item) => item['collection']));
      const unseen = (criteria.collections ?? []).filter((id) => !had.has(id));
      if (unseen.length === 0) return [];
      return missingCollections(client, catalog, landing, unseen, scope);
    };
    const isProjected = criteria.fields !== undefined && landing.can.has('fields');
    const notes =
      isFirst && items.length === 0
        ? await diagnosis(seen)
        : [
            ...unseenProperties(items, criteria, isProjected),
            ...(isFirst && !isProjected ? await unseenCollections() : []),
          ];
    return notes.length > 0 ? { ...found, warnings: [...found.warnings, ...notes] } : found;
  } catch (cause) {
    if (!isFirst) throw cause;
    return explainRejection(cause, diagnosis);
  }
}

/** One page as the catalogue gives it: a server may ignore the limit. */
async function fetchPageOf(
  client: Client,
  catalog: Catalog,
  landing: Landing,
  criteria: Criteria,
  options: SearchOptions,
  scope: CallContext,
): Promise<Found> {
  if (landing.kind === 'static') {
    return searchStatic(client, catalog, landing, criteria, options, scope);
  }
  const plan = planSearch(landing, criteria, client.mayPost(catalog, landing));
  const fetching: Fetching = { gateway: client.gateway, catalog, route: 'search', scope };
  const search = new PagedSearch(plan, fetching, options);
  return search.run(() => begin(client, criteria, plan, fetching, options.limit));
}

/** The first page: posted where that is offered, else by GET. */
async function begin(
  client: Client,
  criteria: Criteria,
  plan: SearchPlan,
  fetching: Fetching,
  limit: number,
): Promise<Page> {
  const get = firstRequest(plan, limit, false);
  const request = plan.post ? firstRequest(plan, limit, true) : get;
  const outcome = await tryPage(request, fetching);
  if (outcome.ok) return outcome.value;
  const { status = 0 } = outcome.fault;
  if (request.method === 'POST' && [404, 405, 501].includes(status) && !isTooLongForGet(get)) {
    client.notePostRefused(fetching.catalog);
    return fetchPage(get, fetching);
  }
  if ((status === 400 || status === 422) && criteria.sortby) {
    // Some servers sort by `datetime`, others by `properties.datetime`, and refuse the other name.
    const sortby = otherPrefix(criteria.sortby);
    const other = firstRequest(withSortby(plan, sortby), limit, request.method === 'POST');
    const second = await tryPage(other, fetching);
    if (second.ok) return second.value;
  }
  throw new FaultError(outcome.fault);
}

function withSortby(plan: SearchPlan, sortby: ReturnType<typeof otherPrefix>): SearchPlan {
  const text = sortby.map(({ field, direction }) => `${direction === 'desc' ? '-' : '+'}${field}`);
  const parameters = new Map([...plan.parameters, ['sortby', text.join(',')] as const]);
  return { ...plan, body: { ...plan.body, sortby }, parameters };
}

class PagedSearch {
  readonly #plan: SearchPlan;
  readonly #fetching: Fetching;
  readonly #options: SearchOptions;
  readonly #warnings: string[];
  #endsEarly = false;
  /** What a cursor is the difference to: GET's parameters and POST's body, without a limit. */
  readonly #reference: PageRequest;

  constructor(plan: SearchPlan, fetching: Fetching, options: SearchOptions) {
    this.#plan = plan;
    this.#fetching = fetching;
    this.#options = options;
    this.#warnings = [...plan.warnings];
    const { url } = firstRequest(plan, options.limit, false);
    url.searchParams.delete('limit');
    this.#reference = { method: 'POST', url, body: plan.body };
  }

  async run(first: () => Promise<Page>): Promise<Found> {
    const { cursor } = this.#options;
    const seen = [...(cursor?.seen ?? [])];
    let page = cursor
      ? await fetchPage(unpackCursor(cursor, this.#reference), this.#fetching)
      : await first();
    const skip = cursor?.skip ?? 0;
    let hits = this.#hitsIn(page, skip);
    let trail = cursor?.trail;
    let empty = cursor?.empty ?? 0;
    for (let hops = 0; ; hops++) {
      empty = page.items.length > 0 ? 0 : empty + 1;
      // What is left of a page that was begun has been seen before, and is no circle.
      const isRest = hops === 0 && skip > 0;
      // The same items under another token: a circle that the address does not show.
      if (!isRest && isOnTrail(page.items, trail)) {
        this.#end(LOOP);
        return this.#found({ ...page, items: [] }, [], { seen, trail, empty }, undefined);
      }
      const next = this.#nextOf(page, seen);
      if (hits.length > 0 || !next || hops >= MAX_HOPS) {
        const isEndless = next !== undefined && empty > MAX_EMPTY_PAGES;
        if (isEndless) this.#end(ENDLESS);
        return this.#found(page, hits, { seen, trail, empty }, isEndless ? undefined : next);
      }
      seen.push(identityOf(page.request));
      trail = further(trail, page.items);
      page = await fetchPage(next, this.#fetching);
      hits = this.#hitsIn(page, 0);
    }
  }

  /** The list ends here, although the server says that it goes on. */
  #end(warning: string): void {
    this.#warnings.push(warning);
    this.#endsEarly = true;
  }

  #hitsIn(page: Page, skip: number): readonly Hit[] {
    const { localQuery } = this.#plan;
    return page.items
      .map((item, index) => ({ item, index }))
      .filter(({ item, index }) => index >= skip && (!localQuery || meetsQuery(item, localQuery)));
  }

  #nextOf(page: Page, seen: readonly string[]): PageRequest | undefined {
    const { next } = page;
    if (!next) return undefined;
    if (repeatsSecret(next, this.#fetching.catalog.secrets)) {
      this.#end(REPEATS_SECRET);
      return undefined;
    }
    const identity = identityOf(next);
    if (identity !== identityOf(page.request) && !seen.includes(identity)) return next;
    this.#end(LOOP);
    return undefined;
  }

  #found(
    page: Page,
    hits: readonly Hit[],
    { seen, trail, empty }: Progress,
    next: PageRequest | undefined,
  ): Found {
    const onward =
      next &&
      packCursor(next, this.#reference, {
        seen: [...seen, identityOf(page.request)],
        trail: further(trail, page.items),
        empty,
      });
    const within = (skip: number): Cursor =>
      packCursor(page.request, this.#reference, { skip, seen, trail });
    const usable = onward && this.#usable(onward);
    const { matched } = page;
    return {
      items: hits.map(({ item }) => item),
      ...(matched !== undefined && !this.#plan.localQuery && { matched }),
      warnings: this.#warnings,
      endsEarly: this.#endsEarly,
      ...(usable && { next: usable }),
      after: (kept) => {
        const at = hits[kept];
        return at ? within(at.index) : (usable ?? within(page.items.length));
      },
    };
  }

  #usable(cursor: Cursor): Cursor | undefined {
    if (fitsToken(cursor)) return cursor;
    this.#end(TOKEN_TOO_LONG);
    return undefined;
  }
}

interface Hit {
  readonly item: Doc;
  /** Its place in the server's page. */
  readonly index: number;
}

/** What was there before a page. */
interface Progress {
  readonly seen: readonly string[];
  readonly trail: Trail | undefined;
  readonly empty: number;
}

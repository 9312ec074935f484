import { raise, toolError } from '@toolkeel/contract';
import type { Landing } from '../api/landing.js';
import { below } from '../api/links.js';
import type { Doc } from '../json.js';
import { asParameters, searchBody } from './body.js';
import type { Criteria } from './criteria.js';
import type { PageRequest } from './page-request.js';

/** How a search is put to one catalogue. */
export interface SearchPlan {
  readonly url: URL;
  readonly body: Doc;
  readonly post: boolean;
  readonly parameters: ReadonlyMap<string, string>;
  readonly warnings: readonly string[];
  /** Conditions that the server may not know: its answer is looked through again. */
  readonly localQuery?: Doc;
}

/** Longer URLs are refused by some servers on the way, with errors that do not say so. */
const MAX_URL = 6_000;

export function planSearch(landing: Landing, criteria: Criteria, mayPost: boolean): SearchPlan {
  const { can, search } = landing;
  checkFilter(landing, criteria);
  const body = searchBody(criteria, can);
  const parameters = asParameters(body, can);
  const isUnknown = criteria.query && !can.has('query') && !can.has('filter');
  const common = {
    body,
    parameters,
    warnings: warningsFor(landing, criteria),
    ...(isUnknown && criteria.query && { localQuery: criteria.query }),
  };
  if (search) return { ...common, url: search.url, post: mayPost };
  return { ...common, url: itemsOfOneCollection(landing, criteria), post: false };
}

/** Ends the call where a CQL2 filter is given and the catalogue does not offer them, as far as known. */
export function checkFilter({ can, conformanceFault }: Landing, { filter }: Criteria): void {
  if (filter === undefined || can.has('filter')) return;
  if (conformanceFault) throw conformanceFault;
  unsupported('filter', 'This catalogue does not offer CQL2 filters. Use `query` instead.');
}

/** Without a search, the items of one collection can still be listed. */
function itemsOfOneCollection({ collections }: Landing, criteria: Criteria): URL {
  const { collections: wanted = [], ids, intersects } = criteria;
  const [only] = wanted;
  if (!collections || only === undefined || wanted.length > 1 || ids || intersects) {
    unsupported(
      'item-search',
      'This catalogue has no item search. It lists the items of one collection, by bbox and datetime.',
    );
  }
  return below(collections, only, 'items');
}

function warningsFor({ can }: Landing, { sortby, query }: Criteria): readonly string[] {
  const warnings: string[] = [];
  if (sortby && !can.has('sort')) {
    warnings.push('The catalogue does not say that it can sort; the order may be its own.');
  }
  if (query && !can.has('query') && !can.has('filter')) {
    warnings.push(
      'The catalogue does not say that it knows `query`; its answer was filtered again.',
    );
  }
  return warnings;
}

export function firstRequest(plan: SearchPlan, limit: number, post: boolean): PageRequest {
  const url = new URL(plan.url);
  if (post) return { method: 'POST', url, body: { ...plan.body, limit } };
  for (const [name, value] of plan.parameters) url.searchParams.set(name, value);
  url.searchParams.set('limit', String(limit));
  // The items of one collection are not asked for by collection again.
  if (url.pathname.endsWith('/items')) url.searchParams.delete('collections');
  return { method: 'GET', url };
}

export function isTooLongForGet({ url }: PageRequest): boolean {
  return url.href.length > MAX_URL;
}

export function unsupported(capability: string, message: string): never {
  return raise(toolError('unsupported_by_upstream', message, { details: { capability } }));
}

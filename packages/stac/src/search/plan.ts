import { raise, toolError } from '@toolkeel/contract';
import type { Capability, Landing } from '../api/landing.js';
import { below } from '../api/links.js';
import { type Doc, isDoc } from '../json.js';
import { type Criteria, invalid } from './criteria.js';
import type { PageRequest } from './page.js';
import { parseCql2 } from '../cql2/parse.js';
import { printCql2 } from '../cql2/print.js';
import { FilterProblem } from '../cql2/lexer.js';
import { asGeometry, crossesAntimeridian, flat } from '../geometry/box.js';
import { fieldsForServer, type Fields } from './fields.js';
import { queryToCql2 } from './query.js';

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

type Can = ReadonlySet<Capability>;

/** The body of a POST search. GET takes the same members as parameters: see `asParameters`. */
export function searchBody(criteria: Criteria, can: Can): Doc {
  const { collections, ids, datetime, sortby, fields } = criteria;
  return {
    ...(collections && { collections }),
    ...(ids && { ids }),
    ...areaOf(criteria),
    ...(datetime !== undefined && { datetime }),
    ...(sortby && { sortby }),
    ...(fields && can.has('fields') && { fields: fieldsForServer(fields) }),
    ...conditionsOf(criteria, can),
  };
}

/**
 * A box over the antimeridian goes out as the geometry of its two halves: some servers take west >
 * east for an ordinary box, turned around, and answer with the rest of the world.
 */
function areaOf({ bbox, intersects }: Criteria): Doc {
  if (intersects) return { intersects };
  if (!bbox) return {};
  const box = flat(bbox);
  return box && crossesAntimeridian(box) ? { intersects: asGeometry(box) } : { bbox };
}

/** `query` and `filter`, in the form that this server offers. */
function conditionsOf({ query, filter }: Criteria, can: Can): Doc {
  const asFilter = query && !can.has('query') && can.has('filter') ? queryToCql2(query) : undefined;
  const whole = asFilter && filter !== undefined ? both(asFilter, filter) : (asFilter ?? filter);
  return {
    ...(query && !asFilter && { query }),
    ...(whole !== undefined && filterMembers(whole, can)),
  };
}

function both(one: Doc, other: string | Doc): Doc {
  return { op: 'and', args: [one, typeof other === 'string' ? textToJson(other) : other] };
}

/** A body carries JSON, unless the server reads nothing but text. */
function filterMembers(filter: string | Doc, can: Can): Doc {
  if (typeof filter === 'string') {
    return can.has('cql2_text') && !can.has('cql2_json')
      ? { filter, 'filter-lang': 'cql2-text' }
      : { filter: textToJson(filter), 'filter-lang': 'cql2-json' };
  }
  return can.has('cql2_text') && !can.has('cql2_json')
    ? { filter: jsonToText(filter), 'filter-lang': 'cql2-text' }
    : { filter, 'filter-lang': 'cql2-json' };
}

function textToJson(text: string): Doc {
  return reading(() => parseCql2(text));
}

function jsonToText(filter: Doc): string {
  return reading(() => printCql2(filter));
}

function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof FilterProblem)
      return invalid('filter', `cannot be read: ${cause.message}`);
    throw cause;
  }
}

/** The same search as the parameters of a GET. */
export function asParameters(body: Doc, can: Can): ReadonlyMap<string, string> {
  const { filter, ...rest } = body;
  const entries = Object.entries(rest).map(
    ([name, value]) => [name, parameter(name, value)] as const,
  );
  const parameters = new Map(entries);
  if (isDoc(filter) && !can.has('cql2_text')) parameters.set('filter', JSON.stringify(filter));
  else if (filter !== undefined) {
    // Text is what a GET carries by default, and what fits into a URL.
    parameters.set('filter', typeof filter === 'string' ? filter : jsonToText(filter as Doc));
    parameters.set('filter-lang', 'cql2-text');
  }
  return parameters;
}

function parameter(name: string, value: unknown): string {
  if (name === 'sortby' && Array.isArray(value)) {
    return (value as readonly { field: string; direction: string }[])
      .map(({ field, direction }) => `${direction === 'desc' ? '-' : '+'}${field}`)
      .join(',');
  }
  if (name === 'fields' && isDoc(value)) {
    const { include = [], exclude = [] } = value as Partial<Fields>;
    return [...include, ...exclude.map((field) => `-${field}`)].join(',');
  }
  if (Array.isArray(value)) return value.join(',');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

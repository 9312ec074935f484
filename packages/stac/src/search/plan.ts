import { raise, toolError } from '@toolkeel/contract';
import { isObject, urlUnder, type JsonObject } from '@toolkeel/pack-kit';
import type { Capability, LandingPage } from '../api/landing.js';
import { FilterSyntaxError } from '../cql2/lexer.js';
import { parseCql2 } from '../cql2/parse.js';
import { printCql2 } from '../cql2/print.js';
import { boxToGeometry, crossesAntimeridian, toBox } from '../geometry/box.js';
import { invalid, type Criteria } from './criteria.js';
import { fieldsForServer, type Fields } from './fields.js';
import type { PageRequest } from './page.js';
import { queryToCql2 } from './query.js';
import { sortbyParameter, type SortKey } from './sort.js';

/** The requests of a search for one catalogue. */
export interface SearchPlan {
  readonly url: URL;
  readonly body: JsonObject;
  readonly post: boolean;
  readonly parameters: ReadonlyMap<string, string>;
  readonly warnings: readonly string[];
  /** Conditions that the server may ignore, so that they are applied locally too. */
  readonly localQuery?: JsonObject;
}

/** Proxies reject longer URLs, often with misleading errors. */
const MAX_URL = 6_000;

export function planSearch(landing: LandingPage, criteria: Criteria, mayPost: boolean): SearchPlan {
  const { capabilities, search } = landing;
  checkFilter(landing, criteria);
  const body = searchBody(criteria, capabilities);
  const parameters = asParameters(body, capabilities);
  const isUnknown = criteria.query && !capabilities.has('query') && !capabilities.has('filter');
  const common = {
    body,
    parameters,
    warnings: warningsFor(landing, criteria),
    ...(isUnknown && criteria.query && { localQuery: criteria.query }),
  };
  if (search) return { ...common, url: search.url, post: mayPost };
  return { ...common, url: itemsOfOneCollection(landing, criteria), post: false };
}

/** Fails the call if it has a CQL2 filter and the catalogue does not support filters. */
export function checkFilter(
  { capabilities, conformanceFault }: LandingPage,
  { filter }: Criteria,
): void {
  if (filter === undefined || capabilities.has('filter')) return;
  if (conformanceFault) throw conformanceFault;
  unsupported('filter', 'This catalogue does not support CQL2 filters. Use `query` instead.');
}

/** Without item search, the items of one collection can be listed. */
function itemsOfOneCollection({ collections }: LandingPage, criteria: Criteria): URL {
  const { collections: wanted = [], ids, intersects } = criteria;
  const [only] = wanted;
  if (!collections || only === undefined || wanted.length > 1 || ids || intersects) {
    unsupported(
      'item-search',
      'This catalogue has no item search. It can list the items of one collection, by bbox and datetime.',
    );
  }
  return urlUnder(collections, only, 'items');
}

function warningsFor(
  { capabilities }: LandingPage,
  { sortby, query }: Criteria,
): readonly string[] {
  const warnings: string[] = [];
  if (sortby && !capabilities.has('sort')) {
    warnings.push('The catalogue does not declare sorting; items may be in another order.');
  }
  if (query && !capabilities.has('query') && !capabilities.has('filter')) {
    warnings.push('The catalogue does not declare `query`; items were filtered locally.');
  }
  return warnings;
}

export function firstRequest(plan: SearchPlan, limit: number, post: boolean): PageRequest {
  const url = new URL(plan.url);
  if (post) return { method: 'POST', url, body: { ...plan.body, limit } };
  for (const [name, value] of plan.parameters) url.searchParams.set(name, value);
  url.searchParams.set('limit', String(limit));
  // The path already selects the collection.
  if (url.pathname.endsWith('/items')) url.searchParams.delete('collections');
  return { method: 'GET', url };
}

export function isTooLongForGet({ url }: PageRequest): boolean {
  return url.href.length > MAX_URL;
}

export function unsupported(capability: string, message: string): never {
  return raise(toolError('unsupported_by_upstream', message, { details: { capability } }));
}

type Capabilities = ReadonlySet<Capability>;

/** The body of a POST search; `asParameters` converts it for GET. */
export function searchBody(criteria: Criteria, capabilities: Capabilities): JsonObject {
  const { collections, ids, datetime, sortby, fields } = criteria;
  return {
    ...(collections && { collections }),
    ...(ids && { ids }),
    ...areaOf(criteria),
    ...(datetime !== undefined && { datetime }),
    ...(sortby && { sortby }),
    ...(fields && capabilities.has('fields') && { fields: fieldsForServer(fields) }),
    ...conditionsOf(criteria, capabilities),
  };
}

/**
 * Sends a box that crosses the antimeridian as a geometry, because some servers swap west and east and
 * return the rest of the world.
 */
function areaOf({ bbox, intersects }: Criteria): JsonObject {
  if (intersects) return { intersects };
  if (!bbox) return {};
  const box = toBox(bbox);
  return box && crossesAntimeridian(box) ? { intersects: boxToGeometry(box) } : { bbox };
}

/** `query` and `filter` in a form that the server supports. */
function conditionsOf({ query, filter }: Criteria, capabilities: Capabilities): JsonObject {
  const asFilter =
    query && !capabilities.has('query') && capabilities.has('filter')
      ? queryToCql2(query)
      : undefined;
  const combined =
    asFilter && filter !== undefined ? conjunction(asFilter, filter) : (asFilter ?? filter);
  return {
    ...(query && !asFilter && { query }),
    ...(combined !== undefined && filterMembers(combined, capabilities)),
  };
}

function conjunction(left: JsonObject, right: string | JsonObject): JsonObject {
  return { op: 'and', args: [left, asJson(right)] };
}

/** CQL2 JSON, unless the server only supports CQL2 text. */
function filterMembers(filter: string | JsonObject, capabilities: Capabilities): JsonObject {
  return capabilities.has('cql2_text') && !capabilities.has('cql2_json')
    ? { filter: asText(filter), 'filter-lang': 'cql2-text' }
    : { filter: asJson(filter), 'filter-lang': 'cql2-json' };
}

function asJson(filter: string | JsonObject): JsonObject {
  return typeof filter === 'string' ? rejectInvalid(() => parseCql2(filter)) : filter;
}

function asText(filter: string | JsonObject): string {
  return typeof filter === 'string' ? filter : rejectInvalid(() => printCql2(filter));
}

function rejectInvalid<T>(convert: () => T): T {
  try {
    return convert();
  } catch (cause) {
    if (cause instanceof FilterSyntaxError)
      return invalid('filter', `is not valid CQL2: ${cause.message}`);
    throw cause;
  }
}

/** The query parameters of a GET search. */
export function asParameters(
  body: JsonObject,
  capabilities: Capabilities,
): ReadonlyMap<string, string> {
  const { filter, ...rest } = body;
  const entries = Object.entries(rest).map(
    ([name, value]) => [name, parameter(name, value)] as const,
  );
  const parameters = new Map(entries);
  if (isObject(filter) && !capabilities.has('cql2_text'))
    parameters.set('filter', JSON.stringify(filter));
  else if (filter !== undefined) {
    // CQL2 text is the default for GET, and shorter.
    parameters.set('filter', asText(filter as string | JsonObject));
    parameters.set('filter-lang', 'cql2-text');
  }
  return parameters;
}

function parameter(name: string, value: unknown): string {
  if (name === 'sortby') return sortbyParameter(value as readonly SortKey[]);
  if (name === 'fields' && isObject(value)) {
    const { include = [], exclude = [] } = value as Partial<Fields>;
    return [...include, ...exclude.map((field) => `-${field}`)].join(',');
  }
  if (Array.isArray(value)) return value.join(',');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

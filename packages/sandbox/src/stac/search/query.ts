import { isObject, type JsonObject } from '../../json.js';
import type { RouteContext } from '../../server/upstream.js';
import { badParameter, Problem } from '../api/http.js';
import { type Catalogue, type Queryables, queryablesOf } from '../catalogue/catalogue.js';
import { compileFilter, type PropertyResolver } from '../cql2/compile.js';
import { parseText } from '../cql2/parse.js';
import type { Traits } from '../flavours.js';
import type { Part } from '../geo/geometry.js';
import { partsOfBox, partsOfGeometry, type Span, spanOf } from './parameters.js';
import { fieldChoice, type FieldChoice, fieldsFromText } from './fields.js';
import {
  unqualifiedName,
  type Predicate,
  queryPredicate,
  type SortKey,
  sortKeys,
  sortKeysFromText,
} from './select.js';

/** The scenes that a search selects. */
export interface Criteria {
  readonly collections?: ReadonlySet<string>;
  readonly ids?: ReadonlySet<string>;
  readonly area?: readonly Part[];
  readonly time?: Span;
  readonly words?: readonly string[];
  readonly predicates: readonly Predicate[];
}

/** A parsed search. */
export interface SearchRequest extends Criteria {
  readonly limit: number;
  readonly sort: readonly SortKey[];
  readonly fields?: FieldChoice;
}

const DEFAULT_LIMIT = 10;

/** Parses the parameters in the form of a POST body. */
export function parseSearch(given: unknown, catalogue: Catalogue, traits: Traits): SearchRequest {
  if (!isObject(given)) throw badParameter('body', 'is not an object');
  return {
    ...criteriaOf(given, catalogue, traits),
    limit: limitOf(given['limit'], traits),
    sort: traits.sort && given['sortby'] != null ? sortOf(given['sortby'], traits) : [],
    ...(traits.fields && given['fields'] != null && { fields: fieldChoice(given['fields']) }),
  };
}

export function criteriaOf(
  given: Readonly<Record<string, unknown>>,
  catalogue: Catalogue,
  traits: Traits,
): Criteria {
  const { bbox, intersects, datetime, ids, collections, query, filter, q } = given;
  if (bbox != null && intersects != null)
    throw badParameter('intersects', 'cannot be combined with bbox');
  const named = collections == null ? undefined : new Set(stringsOf('collections', collections));
  const predicates: Predicate[] = [];
  if (traits.query && query != null) predicates.push(queryPredicate(query));
  if (traits.filter.length > 0 && filter != null)
    predicates.push(filterOf(given, catalogue, traits, named));
  return {
    predicates,
    ...(named && named.size > 0 && { collections: named }),
    ...(ids != null && { ids: new Set(stringsOf('ids', ids)) }),
    ...(bbox != null && { area: partsOfBox(bbox) }),
    ...(intersects != null && { area: partsOfGeometry(intersects) }),
    ...(datetime != null && { time: spanOf(stringOf('datetime', datetime)) }),
    ...(traits.freeText && q != null && { words: stringsOf('q', q).map((it) => it.toLowerCase()) }),
  };
}

export function limitOf(given: unknown, { maxLimit, overMaxLimit }: Traits): number {
  if (given == null) return DEFAULT_LIMIT;
  if (typeof given !== 'number' || !Number.isInteger(given) || given < 1)
    throw badParameter('limit', 'is not a whole number above 0');
  if (given > maxLimit && overMaxLimit === 'refuse')
    throw badParameter('limit', `is above ${maxLimit}`);
  return Math.min(given, maxLimit);
}

function sortOf(given: unknown, { sortNames }: Traits): SortKey[] {
  const keys = sortKeys(given);
  const bare = keys.find(({ field }) => !/^(id$|collection$|properties\.)/.test(field));
  if (bare && sortNames === 'qualified')
    throw badParameter('sortby', `no mapping for "${bare.field}": write properties.${bare.field}`);
  return keys;
}

function filterOf(
  given: Readonly<Record<string, unknown>>,
  catalogue: Catalogue,
  traits: Traits,
  collections: ReadonlySet<string> | undefined,
): Predicate {
  const { filter, 'filter-lang': language = 'cql2-json', 'filter-crs': system } = given;
  if (!traits.filter.some((known) => known === language))
    throw badParameter('filter-lang', `"${String(language)}" is not supported`);
  if (system != null && system !== 'http://www.opengis.net/def/crs/OGC/1.3/CRS84')
    throw badParameter('filter-crs', 'is not supported');
  const resolveProperty = propertyResolver(catalogue, traits, collections);
  const expression = language === 'cql2-text' ? parseText(stringOf('filter', filter)) : filter;
  return compileFilter(expression, resolveProperty);
}

function stringOf(name: string, given: unknown): string {
  if (typeof given !== 'string') throw badParameter(name, 'is not a string');
  return given;
}

function stringsOf(name: string, given: unknown): string[] {
  if (!Array.isArray(given) || !given.every((member) => typeof member === 'string'))
    throw badParameter(name, 'is not a list of strings');
  return given;
}

interface RequestParameters {
  /** The parameters in the form of a POST body. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly query: URLSearchParams;
  readonly body?: JsonObject;
}

/** Reads the parameters of a GET or POST. Some routes accept additional ones. */
export async function readParameters(
  { req }: RouteContext,
  traits: Traits,
  ownParameters: readonly string[] = [],
): Promise<RequestParameters> {
  const query = new URL(req.url).searchParams;
  if (req.method === 'POST') {
    const body = parseBody(await req.text(), req.header('content-type'));
    return { parameters: body, body, query };
  }
  const { parameters, unknown } = parametersFromQuery(query);
  const unknownName = unknown.find((name) => !ownParameters.includes(name));
  if (unknownName !== undefined && traits.unknownParameters === 'refuse')
    throw badParameter(unknownName, 'is not a parameter');
  return { parameters, query };
}

function parseBody(text: string, type = ''): JsonObject {
  if (!/^application\/(?:[\w.+-]+\+)?json\b/.test(type))
    throw new Problem(415, 'UnsupportedMediaType', 'The body must be application/json');
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw badParameter('body', 'is not JSON');
  }
  if (!isObject(body)) throw badParameter('body', 'is not an object');
  return body as JsonObject;
}

type ParameterReader = (text: string, name: string) => unknown;

const list: ParameterReader = (text) => text.split(',').map((part) => part.trim());
const numbers: ParameterReader = (text) =>
  text.split(',').map((part) => (part.trim() === '' ? NaN : Number(part)));
const same: ParameterReader = (text) => text;
const number: ParameterReader = (text) => (text.trim() === '' ? NaN : Number(text));
const json: ParameterReader = (text, name) => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw badParameter(name, 'is not JSON');
  }
};

/** The format of each parameter in a query string. */
const readers: Readonly<Record<string, ParameterReader>> = {
  bbox: numbers,
  intersects: json,
  datetime: same,
  ids: list,
  collections: list,
  limit: number,
  q: list,
  query: json,
  filter: same,
  'filter-lang': same,
  'filter-crs': same,
  sortby: sortKeysFromText,
  fields: fieldsFromText,
  aggregations: list,
};

/** Converts a query string to the form of a POST body, and lists unknown parameters. */
export function parametersFromQuery(query: URLSearchParams): {
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly unknown: readonly string[];
} {
  const parameters: Record<string, unknown> = {};
  const unknown: string[] = [];
  for (const [name, text] of query) {
    const read = Object.hasOwn(readers, name) ? readers[name] : undefined;
    if (!read) unknown.push(name);
    // An empty `fields` selects the default fields; other empty parameters are ignored.
    else if (text !== '' || name === 'fields') parameters[name] = read(text, name);
  }
  // The default filter language is text in a query string, and JSON in a body.
  const filter = query.get('filter');
  if (filter) {
    parameters['filter-lang'] ??= 'cql2-text';
    if (parameters['filter-lang'] === 'cql2-json') parameters['filter'] = json(filter, 'filter');
  }
  return { parameters, unknown };
}

/** Cached per catalogue and collection, because it visits every scene. */
const known = new WeakMap<Catalogue, Map<string, Queryables>>();

/** The queryables of a server. Before STAC 1.1 there is no projection code. */
export function offeredQueryables(
  catalogue: Catalogue,
  { stacVersion }: Traits,
  collection?: string,
): Queryables {
  const perCollection = known.get(catalogue) ?? new Map<string, Queryables>();
  known.set(catalogue, perCollection);
  const key = collection ?? '';
  const all = perCollection.get(key) ?? queryablesOf(catalogue, collection);
  perCollection.set(key, all);
  if (stacVersion === '1.1.0') return all;
  const { 'proj:code': _code, ...before } = all;
  return before;
}

/** Resolves the property names in filters. Several collections share the union of their queryables. */
function propertyResolver(
  catalogue: Catalogue,
  traits: Traits,
  collections: ReadonlySet<string> | undefined,
): PropertyResolver {
  const [only] = collections?.size === 1 ? collections : [];
  const offered = offeredQueryables(catalogue, traits, only);
  return (name) => {
    const plain = unqualifiedName(name);
    if (traits.unknownProperties === 'refuse' && !Object.hasOwn(offered, plain))
      throw badParameter('filter', `"${name}" is not among the queryables`);
    return plain;
  };
}

import { isObject } from '../../json.js';
import { badParameter } from '../api/problem.js';
import type { Catalogue } from '../catalogue/catalogue.js';
import { compileFilter } from '../cql2/compile.js';
import { parseText } from '../cql2/parse-text.js';
import type { Traits } from '../flavour/traits.js';
import type { Part } from '../geo/parts.js';
import { partsOfBox, partsOfGeometry } from './area.js';
import { fieldChoice, type FieldChoice } from './fields.js';
import type { Predicate } from './query-extension.js';
import { queryPredicate } from './query-extension.js';
import { sortKeys, type SortKey } from './sort.js';
import { spanOf, type Span } from './time.js';
import { vocabularyOf } from './vocabulary.js';

/** Which scenes are meant. */
export interface Criteria {
  readonly collections?: ReadonlySet<string>;
  readonly ids?: ReadonlySet<string>;
  readonly area?: readonly Part[];
  readonly time?: Span;
  readonly words?: readonly string[];
  readonly predicates: readonly Predicate[];
}

/** A search, understood. */
export interface Ask extends Criteria {
  readonly limit: number;
  readonly sort: readonly SortKey[];
  readonly fields?: FieldChoice;
}

const USUAL_LIMIT = 10;

/** Reads a search as POST sends it; GET is brought into the same form first. */
export function askOf(given: unknown, catalogue: Catalogue, traits: Traits): Ask {
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
  const named = collections == null ? undefined : new Set(texts('collections', collections));
  const predicates: Predicate[] = [];
  if (traits.query && query != null) predicates.push(queryPredicate(query));
  if (traits.filter.length > 0 && filter != null)
    predicates.push(filterOf(given, catalogue, traits, named));
  return {
    predicates,
    ...(named && named.size > 0 && { collections: named }),
    ...(ids != null && { ids: new Set(texts('ids', ids)) }),
    ...(bbox != null && { area: partsOfBox(bbox) }),
    ...(intersects != null && { area: partsOfGeometry(intersects) }),
    ...(datetime != null && { time: spanOf(text('datetime', datetime)) }),
    ...(traits.freeText && q != null && { words: texts('q', q).map((it) => it.toLowerCase()) }),
  };
}

export function limitOf(given: unknown, { maxLimit, overMaxLimit }: Traits): number {
  if (given == null) return USUAL_LIMIT;
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
  const vocabulary = vocabularyOf(catalogue, traits, collections);
  const expression = language === 'cql2-text' ? parseText(text('filter', filter)) : filter;
  return compileFilter(expression, vocabulary);
}

function text(name: string, given: unknown): string {
  if (typeof given !== 'string') throw badParameter(name, 'is not text');
  return given;
}

function texts(name: string, given: unknown): string[] {
  if (!Array.isArray(given) || !given.every((member) => typeof member === 'string'))
    throw badParameter(name, 'is not a list of texts');
  return given;
}

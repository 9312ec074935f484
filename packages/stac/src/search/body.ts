import type { Capability } from '../api/conformance.js';
import { parseCql2 } from '../cql2/parse.js';
import { printCql2 } from '../cql2/print.js';
import { FilterProblem } from '../cql2/problem.js';
import { isDoc, type Doc } from '../json.js';
import { asGeometry, crossesAntimeridian, flat } from './bbox.js';
import { invalid, type Criteria } from './criteria.js';
import { fieldsForServer, type Fields } from './fields.js';
import { queryToCql2 } from './query.js';

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

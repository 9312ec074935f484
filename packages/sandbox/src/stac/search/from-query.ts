import { badParameter } from '../api/problem.js';
import { fieldsFromText } from './fields.js';
import { sortKeysFromText } from './sort.js';

type Reader = (text: string, name: string) => unknown;

const list: Reader = (text) => text.split(',').map((part) => part.trim());
const numbers: Reader = (text) =>
  text.split(',').map((part) => (part.trim() === '' ? NaN : Number(part)));
const same: Reader = (text) => text;
const number: Reader = (text) => (text.trim() === '' ? NaN : Number(text));
const json: Reader = (text, name) => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw badParameter(name, 'is not JSON');
  }
};

/** How each parameter is written in a query string. */
const readers: Readonly<Record<string, Reader>> = {
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

/** A query string in the form that POST uses. Parameters that nobody defined are given back by name. */
export function askFromQuery(query: URLSearchParams): {
  readonly ask: Readonly<Record<string, unknown>>;
  readonly unknown: readonly string[];
} {
  const ask: Record<string, unknown> = {};
  const unknown: string[] = [];
  for (const [name, text] of query) {
    const read = Object.hasOwn(readers, name) ? readers[name] : undefined;
    if (!read) unknown.push(name);
    // An empty choice of fields is one; other empty parameters were not meant.
    else if (text !== '' || name === 'fields') ask[name] = read(text, name);
  }
  // In a query string the default language is text, in a body it is JSON.
  const filter = query.get('filter');
  if (filter) {
    ask['filter-lang'] ??= 'cql2-text';
    if (ask['filter-lang'] === 'cql2-json') ask['filter'] = json(filter, 'filter');
  }
  return { ask, unknown };
}

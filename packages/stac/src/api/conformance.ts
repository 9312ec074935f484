import { textsOf } from '../json.js';
import { withoutTrailingSlashes } from '../text.js';

/**
 * What a catalogue can say it does. A class is recognised by how its URI ends: the versions in the
 * middle differ from server to server, release candidates included.
 */
const patterns = {
  core: /\/core$/,
  item_search: /\/item-search$/,
  features: /\/ogcapi-features$|\/ogcapi-features-1\/1\.\d\/conf\/core$/,
  collections: /\/collections$|\/ogcapi-common-2\/.*\/conf\/(simple-query|collections)$/,
  query: /\/item-search#query$|\/query$/,
  sort: /\/item-search#sort$|\/sort$/,
  fields: /\/item-search#fields$|\/fields$/,
  filter:
    /\/item-search#filter$|\/item-search#filter:item-search-filter$|\/conf\/features-filter$|\/ogcapi-features-3\/.*\/conf\/filter$/,
  cql2_text: /\/conf\/cql2-text$|#filter:cql-text$|\/item-search#filter:cql2-text$/,
  cql2_json: /\/conf\/cql2-json$|#filter:cql-json$|\/item-search#filter:cql2-json$/,
  aggregation: /\/aggregation$/,
  collection_search: /\/collection-search$/,
  collection_free_text: /\/collection-search#free-text$/,
  item_free_text: /\/item-search#free-text$/,
  transaction: /\/ogcapi-features(-4\/.*\/conf|\/extensions\/transaction)(\/.*)?$/,
} as const satisfies Readonly<Record<string, RegExp>>;

/** More, and longer ones, than any server has: the patterns need not look at them. */
const MAX_CLASSES = 1_000;
const MAX_URI = 300;

/** The classes that a server names. */
export function classesIn(value: unknown): readonly string[] {
  return textsOf(value)
    .filter(({ length }) => length <= MAX_URI)
    .slice(0, MAX_CLASSES);
}

export type Capability = keyof typeof patterns;

export const capabilityNames = Object.keys(patterns) as readonly Capability[];

/** The capabilities that the classes name. A catalogue may do more than it says. */
export function capabilitiesIn(classes: readonly string[]): ReadonlySet<Capability> {
  const uris = classes.map(canonical);
  return new Set(capabilityNames.filter((name) => uris.some((uri) => patterns[name].test(uri))));
}

/** Servers write `…/item-search/#query` for `…/item-search#query`, and requirement classes (`/req/`) for conformance classes. */
function canonical(uri: string): string {
  return withoutTrailingSlashes(uri.trim())
    .replace('/#', '#')
    .replace(/\/req\/(?=[^/]+$)/, '/conf/');
}

/** Whether the classes contain one: the same URI, or another version of it. */
export function conformsTo(classes: readonly string[], wanted: string): boolean {
  const bare = unversioned(wanted);
  return classes.some((uri) => uri === wanted || unversioned(uri) === bare);
}

const VERSION = /\/v?\d+(\.\d+)+(-[\w.]+)?(?=[/#]|$)/g;

function unversioned(uri: string): string {
  return canonical(uri)
    .replace(/^http:/, 'https:')
    .replaceAll(VERSION, '');
}

import type { FaultError } from '@toolkeel/kernel';
import { type Doc, textOf, textsOf } from '../json.js';
import { below, linkTo, linksWith, targetOf } from './links.js';
import { withoutTrailingSlashes } from '../text.js';

/** What a catalogue's first page says: what it can do, and where. */
export interface Landing {
  readonly url: URL;
  readonly doc: Doc;
  /** A static catalogue is files that link to each other: there is nothing to ask. */
  readonly kind: 'api' | 'static';
  readonly conformsTo: readonly string[];
  readonly can: ReadonlySet<Capability>;
  readonly search?: { readonly url: URL; readonly get: boolean; readonly post: boolean };
  /** The list of collections. */
  readonly collections?: URL;
  readonly queryables?: URL;
  readonly conformance?: URL;
  readonly aggregate?: { readonly url: URL; readonly post: boolean };
  readonly aggregations?: URL;
  /** Why the linked conformance page could not be read: the capabilities are incomplete. */
  readonly conformanceFault?: FaultError;
}

export function readLanding(doc: Doc, url: URL): Landing {
  const conformsTo = classesIn(doc['conformsTo']);
  const can = capabilitiesIn(conformsTo);
  const place = (rel: string): URL | undefined => {
    const link = linkTo(doc, rel);
    return link && targetOf(link.href, url);
  };
  const optional = {
    search: searchOf(doc, url, can),
    collections: place('data') ?? (can.has('features') ? below(url, 'collections') : undefined),
    queryables: place('queryables'),
    conformance: place('conformance'),
    aggregate: aggregateOf(doc, url, can),
    aggregations: place('aggregations'),
  };
  const known = Object.entries(optional).filter(([, value]) => value !== undefined);
  const isApi = conformsTo.length > 0 || optional.search !== undefined;
  return {
    url,
    doc,
    kind: isApi || optional.conformance || hasDataButNoChildren(doc) ? 'api' : 'static',
    conformsTo,
    can,
    ...Object.fromEntries(known),
  };
}

function searchOf(doc: Doc, url: URL, can: ReadonlySet<Capability>): Landing['search'] | undefined {
  const links = linksWith(doc, 'search').filter(({ href }) => targetOf(href, url) !== undefined);
  const [first] = links;
  // Advertised but not linked: the specification fixes the path.
  if (!first) {
    return can.has('item_search')
      ? { url: below(url, 'search'), get: true, post: false }
      : undefined;
  }
  const post = links.find(({ method }) => method === 'POST');
  const get = links.find(({ method }) => method === 'GET');
  // GET is required of every server, also of one that only links POST.
  return {
    url: targetOf((post ?? get ?? first).href, url)!,
    get: true,
    post: post !== undefined,
  };
}

function aggregateOf(
  doc: Doc,
  url: URL,
  can: ReadonlySet<Capability>,
): Landing['aggregate'] | undefined {
  const links = linksWith(doc, 'aggregate');
  const target = links[0] && targetOf(links[0].href, url);
  if (target) return { url: target, post: links.some(({ method }) => method === 'POST') };
  return can.has('aggregation') ? { url: below(url, 'aggregate'), post: false } : undefined;
}

function hasDataButNoChildren(doc: Doc): boolean {
  const has = (rel: string) => linkTo(doc, rel) !== undefined;
  return has('data') && !has('child') && !has('item') && textOf(doc['type']) !== 'Collection';
}

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
function classesIn(value: unknown): readonly string[] {
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

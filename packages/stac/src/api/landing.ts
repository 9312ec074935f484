import type { FaultError } from '@toolkeel/kernel';
import {
  stringOf,
  stringsOf,
  urlUnder,
  withoutTrailingSlashes,
  type JsonObject,
} from '@toolkeel/pack-kit';
import { linksWith, linkTo, targetOf } from './links.js';

/** The landing page of a catalogue: its capabilities and endpoints. */
export interface LandingPage {
  readonly url: URL;
  readonly doc: JsonObject;
  /** A static catalogue consists of linked files and has no search endpoint. */
  readonly kind: 'api' | 'static';
  readonly conformsTo: readonly string[];
  readonly capabilities: ReadonlySet<Capability>;
  readonly search?: { readonly url: URL; readonly get: boolean; readonly post: boolean };
  /** The list of collections. */
  readonly collections?: URL;
  readonly queryables?: URL;
  readonly conformance?: URL;
  readonly aggregate?: { readonly url: URL; readonly post: boolean };
  readonly aggregations?: URL;
  /** Set if the linked conformance page could not be read: `capabilities` is then incomplete. */
  readonly conformanceFault?: FaultError;
}

export function parseLandingPage(doc: JsonObject, url: URL): LandingPage {
  const conformsTo = classesFrom(doc['conformsTo']);
  const capabilities = capabilitiesFrom(conformsTo);
  const linkUrl = (rel: string): URL | undefined => {
    const link = linkTo(doc, rel);
    return link && targetOf(link.href, url);
  };
  const optional = {
    search: searchOf(doc, url, capabilities),
    collections:
      linkUrl('data') ?? (capabilities.has('features') ? urlUnder(url, 'collections') : undefined),
    queryables: linkUrl('queryables'),
    conformance: linkUrl('conformance'),
    aggregate: aggregateOf(doc, url, capabilities),
    aggregations: linkUrl('aggregations'),
  };
  const known = Object.entries(optional).filter(([, value]) => value !== undefined);
  const isApi = conformsTo.length > 0 || optional.search !== undefined;
  return {
    url,
    doc,
    kind: isApi || optional.conformance || hasDataButNoChildren(doc) ? 'api' : 'static',
    conformsTo,
    capabilities,
    ...Object.fromEntries(known),
  };
}

function searchOf(
  doc: JsonObject,
  url: URL,
  capabilities: ReadonlySet<Capability>,
): LandingPage['search'] | undefined {
  const links = linksWith(doc, 'search').filter(({ href }) => targetOf(href, url) !== undefined);
  const [first] = links;
  // Some servers advertise a search without linking it; the specification fixes the path.
  if (!first) {
    return capabilities.has('item_search')
      ? { url: urlUnder(url, 'search'), get: true, post: false }
      : undefined;
  }
  const post = links.find(({ method }) => method === 'POST');
  const get = links.find(({ method }) => method === 'GET');
  // The specification requires GET of every server, even if it only links POST.
  return {
    url: targetOf((post ?? get ?? first).href, url)!,
    get: true,
    post: post !== undefined,
  };
}

function aggregateOf(
  doc: JsonObject,
  url: URL,
  capabilities: ReadonlySet<Capability>,
): LandingPage['aggregate'] | undefined {
  const links = linksWith(doc, 'aggregate');
  const target = links[0] && targetOf(links[0].href, url);
  if (target) return { url: target, post: links.some(({ method }) => method === 'POST') };
  return capabilities.has('aggregation')
    ? { url: urlUnder(url, 'aggregate'), post: false }
    : undefined;
}

function hasDataButNoChildren(doc: JsonObject): boolean {
  const has = (rel: string) => linkTo(doc, rel) !== undefined;
  return has('data') && !has('child') && !has('item') && stringOf(doc['type']) !== 'Collection';
}

/**
 * Capabilities by the end of their conformance URI: the version in the middle differs from server to
 * server, release candidates included.
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

/** Bounds the work on untrusted input; no real server exceeds them. */
const MAX_CLASSES = 1_000;
const MAX_URI = 300;

/** The conformance classes of a document. */
function classesFrom(value: unknown): readonly string[] {
  return stringsOf(value)
    .filter(({ length }) => length <= MAX_URI)
    .slice(0, MAX_CLASSES);
}

export type Capability = keyof typeof patterns;

export const capabilityNames = Object.keys(patterns) as readonly Capability[];

/** The capabilities that conformance classes declare. A catalogue may support more. */
export function capabilitiesFrom(classes: readonly string[]): ReadonlySet<Capability> {
  const uris = classes.map(canonical);
  return new Set(capabilityNames.filter((name) => uris.some((uri) => patterns[name].test(uri))));
}

/** Some servers write `…/item-search/#query`, or requirement classes (`/req/`) instead of conformance classes. */
function canonical(uri: string): string {
  return withoutTrailingSlashes(uri.trim())
    .replace('/#', '#')
    .replace(/\/req\/(?=[^/]+$)/, '/conf/');
}

/** Whether the classes include a URI, in any version. */
export function includesClass(classes: readonly string[], wanted: string): boolean {
  const bare = unversioned(wanted);
  return classes.some((uri) => uri === wanted || unversioned(uri) === bare);
}

const VERSION = /\/v?\d+(\.\d+)+(-[\w.]+)?(?=[/#]|$)/g;

function unversioned(uri: string): string {
  return canonical(uri)
    .replace(/^http:/, 'https:')
    .replaceAll(VERSION, '');
}

export function collectionsUrl({ collections, url }: LandingPage): URL {
  return collections ?? urlUnder(url, 'collections');
}

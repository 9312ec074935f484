import { raise, toolError } from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import {
  asQuestion,
  closestMatches,
  didYouMean,
  faultToError,
  isObject,
  memberOf,
  objectOf,
  oneLine,
  type JsonObject,
} from '@toolkeel/pack-kit';
import type { CatalogCall } from '../api/catalog-call.js';
import type { Catalog } from '../api/catalogs.js';
import { collectionsPage } from '../api/collections.js';
import type { LandingPage } from '../api/landing.js';
import { linksWith } from '../api/links.js';
import { FilterSyntaxError } from '../cql2/lexer.js';
import { parseCql2 } from '../cql2/parse.js';
import type { Criteria } from './criteria.js';
import { ITEM_MEMBERS, KNOWN_PROPERTIES } from './known-properties.js';
import { propertyOf } from './query.js';

/** The known collections of a catalogue, with the properties in their summaries. */
export interface KnownCollections {
  readonly byId: ReadonlyMap<string, readonly string[]>;
  /** Whether the list is complete. */
  readonly complete: boolean;
}

/** The share of the remaining time that a diagnosis may take. */
const SHARE_OF_TIME = 0.5;
const LIST_LIMIT = 1_000;
const MAX_NOTES = 5;

export function knownCollectionsFrom(
  docs: readonly JsonObject[],
  complete: boolean,
): KnownCollections {
  const entries = docs.map((doc) => {
    const names = Object.keys(objectOf(doc['summaries']) ?? {});
    return [String(doc['id']), names.slice(0, 200)] as const;
  });
  return { byId: new Map(entries), complete };
}

/** Cached, or the first page of the list with one request. Faults do not fail the call. */
export async function loadKnownCollections(
  call: CatalogCall,
  landing: LandingPage,
): Promise<KnownCollections | undefined> {
  const { collections, capabilities } = landing;
  if (!collections) return linkedCollections(landing);
  const { client, catalog } = call;
  return client.collectionCache.get(catalog.name) ?? unlessFault(load());

  async function load(): Promise<KnownCollections> {
    const url = new URL(collections!);
    if (capabilities.has('collection_search')) url.searchParams.set('limit', String(LIST_LIMIT));
    const request = { method: 'GET', url } as const;
    const page = await collectionsPage(call.withTimeShare(SHARE_OF_TIME), request);
    const known = knownCollectionsFrom(page.collections, page.next === undefined);
    client.collectionCache.set(catalog.name, known);
    return known;
  }
}

/** Without a list of collections: the ids in the URLs of `child` links. */
function linkedCollections({ doc }: LandingPage): KnownCollections | undefined {
  const ids = linksWith(doc, 'child').flatMap(({ href }) => {
    const segments = href
      .replace(/[?#].*$/, '')
      .split('/')
      .filter(Boolean);
    return segments.findLast((segment) => !/\.json$|^\.+$/.test(segment)) ?? [];
  });
  const entries = ids.map((id) => [decoded(id), []] as const);
  return ids.length > 0 ? { byId: new Map(entries), complete: false } : undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The names of a catalogue's queryables. Cached, or with one request. */
async function loadQueryableNames(
  call: CatalogCall,
  { queryables }: LandingPage,
): Promise<readonly string[] | undefined> {
  if (!queryables) return undefined;
  const { client, catalog } = call;
  const cached = client.queryableCache.get(catalog.name);
  if (cached) return cached;
  const loading = call.withTimeShare(SHARE_OF_TIME).get(queryables, 'queryables');
  const loaded = await unlessFault(loading);
  const names = loaded && Object.keys(objectOf(loaded.doc['properties']) ?? {});
  if (names) client.queryableCache.set(catalog.name, names);
  return names;
}

async function unlessFault<T>(loading: Promise<T>): Promise<T | undefined> {
  try {
    return await loading;
  } catch (cause) {
    if (cause instanceof FaultError) return undefined;
    throw cause;
  }
}

/**
 * Explains an empty or rejected search: names collections and properties that the catalogue does not
 * have, with suggestions. Sends at most one request.
 */
export async function diagnose(
  call: CatalogCall,
  landing: LandingPage,
  criteria: Criteria,
  read?: KnownCollections,
): Promise<readonly string[]> {
  const { catalog } = call;
  const { collections = [] } = criteria;
  const names = propertiesIn(criteria);
  const isUnknown = (name: string) => !isKnownProperty(name);
  if (collections.length > 0) {
    const known = read ?? (await loadKnownCollections(call, landing));
    const missing = known ? collections.filter((id) => !known.byId.has(id)) : [];
    const summarized = collections.flatMap((id) => known?.byId.get(id) ?? []);
    const others = names.filter((name) => isUnknown(name) && !summarized.includes(name));
    return [
      ...missing.slice(0, MAX_NOTES).map((id) => collectionNote(id, catalog, known!)),
      ...others.slice(0, MAX_NOTES).map((name) => propertyNote(name, catalog, summarized)),
    ];
  }
  if (!names.some(isUnknown)) return [];
  const queryables = (await loadQueryableNames(call, landing)) ?? [];
  return names
    .filter((name) => isUnknown(name) && !queryables.includes(name))
    .slice(0, MAX_NOTES)
    .map((name) => propertyNote(name, catalog, queryables));
}

/** Names collections that the catalogue does not have, with suggestions. Sends at most one request. */
export async function missingCollections(
  call: CatalogCall,
  landing: LandingPage,
  collections: readonly string[],
): Promise<readonly string[]> {
  const known = await loadKnownCollections(call, landing);
  const missing = known ? collections.filter((id) => !known.byId.has(id)) : [];
  return missing.slice(0, MAX_NOTES).map((id) => collectionNote(id, call.catalog, known!));
}

function collectionNote(id: string, { name }: Catalog, { byId, complete }: KnownCollections) {
  const statement = complete
    ? `${name} has no collection "${shown(id)}".`
    : `"${shown(id)}" is not among the ${byId.size} collections read from ${name}.`;
  return `${statement}${didYouMean(id, byId.keys()) || ' search_collections finds collection ids.'}`;
}

function propertyNote(property: string, { name }: Catalog, candidates: readonly string[]): string {
  const hint = didYouMean(property, [...candidates, ...KNOWN_PROPERTIES]);
  return `"${shown(property)}" is not a property that ${name} is known to have.${hint || ' get_queryables lists its properties.'}`;
}

function shown(name: string): string {
  return oneLine(name, 100);
}

/** Names properties of the search that no returned item has. Sends no request. */
export function unseenProperties(
  items: readonly JsonObject[],
  criteria: Criteria,
  isProjected: boolean,
): readonly string[] {
  const missing = propertiesIn(criteria)
    .filter((name) => !isKnownProperty(name))
    .filter((name) => !items.some((item) => propertyOf(item, name) !== undefined));
  if (items.length === 0 || missing.length === 0) return [];
  const present = items.flatMap((item) => Object.keys(objectOf(item['properties']) ?? {}));
  return missing.slice(0, MAX_NOTES).flatMap((name) => {
    const hint = didYouMean(name, [...present, ...KNOWN_PROPERTIES]);
    // A projected response may omit the property.
    if (isProjected && hint === '') return [];
    return `No returned item has the property "${shown(name)}".${hint}`;
  });
}

/** Names paths in `fields` that no returned item has. */
export function unseenFields(
  items: readonly JsonObject[],
  fields: { readonly include: readonly string[] } | undefined,
): readonly string[] {
  if (items.length === 0 || !fields) return [];
  return fields.include
    .filter((path) => !items.some((item) => hasPath(item, path)))
    .slice(0, MAX_NOTES)
    .map((path) => {
      const question = asQuestion(pathSuggestions(path, items));
      return `No returned item has the field "${shown(path)}".${question}`;
    });
}

function pathSuggestions(path: string, items: readonly JsonObject[]): readonly string[] {
  const namesIn = (member: string) =>
    items.flatMap((item) => Object.keys(objectOf(item[member]) ?? {}));
  const [root, name = '', ...rest] = path.split('.');
  if (root === 'assets') {
    return closestMatches(name, namesIn('assets')).map((key) => ['assets', key, ...rest].join('.'));
  }
  const bare = withoutPrefix(path);
  if (path !== bare && KNOWN_PROPERTIES.has(bare)) return [];
  const properties = new Set([...namesIn('properties'), ...KNOWN_PROPERTIES]);
  // A bare property name only lacks the `properties.` prefix.
  const names = properties.has(bare)
    ? [bare]
    : closestMatches(bare, [...properties, ...ITEM_MEMBERS]);
  return names.map((match) => (properties.has(match) ? `properties.${match}` : match));
}

function hasPath(doc: JsonObject, path: string): boolean {
  if (Object.hasOwn(doc, path)) return true;
  return Object.entries(doc).some(
    ([key, value]) =>
      path.startsWith(`${key}.`) && isObject(value) && hasPath(value, path.slice(key.length + 1)),
  );
}

function isKnownProperty(name: string): boolean {
  return KNOWN_PROPERTIES.has(name) || ITEM_MEMBERS.has(name);
}

const withoutPrefix = (name: string) => name.replace(/^(properties|item)\./, '');

/** The properties that `query`, `filter` and `sortby` name. */
function propertiesIn({ query = {}, filter, sortby = [] }: Criteria): readonly string[] {
  const inFilter = filter === undefined ? [] : filterProperties(filter);
  const names = [...Object.keys(query), ...inFilter, ...sortby.map(({ field }) => field)];
  return [...new Set(names.map(withoutPrefix))];
}

function filterProperties(filter: string | JsonObject): readonly string[] {
  try {
    return [...propertyNodes(typeof filter === 'string' ? parseCql2(filter) : filter, 0)];
  } catch (cause) {
    // The server may support a dialect that this parser does not.
    if (cause instanceof FilterSyntaxError) return [];
    throw cause;
  }
}

const MAX_DEPTH = 50;

function* propertyNodes(node: unknown, depth: number): Generator<string> {
  if (depth > MAX_DEPTH) return;
  const name = memberOf(node, 'property');
  if (typeof name === 'string') yield name;
  const inner = Array.isArray(node) ? node : isObject(node) ? Object.values(node) : [];
  for (const child of inner) yield* propertyNodes(child, depth + 1);
}

const REJECTED: ReadonlySet<number> = new Set([400, 404, 422]);

/** Adds a diagnosis to the error of a search that the catalogue rejected. */
export async function explainRejection(
  cause: unknown,
  diagnosis: () => Promise<readonly string[]>,
): Promise<never> {
  if (!(cause instanceof FaultError) || !REJECTED.has(cause.fault.status ?? 0)) throw cause;
  const error = faultToError(cause.fault);
  const notes = error ? await diagnosis() : [];
  if (!error || notes.length === 0) throw cause;
  const { code, message, details } = error.input;
  return raise(toolError(code, `${message} ${notes.join(' ')}`, { details }));
}

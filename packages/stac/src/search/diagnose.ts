import { raise, toolError } from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import type { Catalog } from '../api/catalog.js';
import type { Client } from '../api/client.js';
import { collectionsPage } from '../api/collections.js';
import type { Landing } from '../api/landing.js';
import { linksWith } from '../api/links.js';
import { parseCql2 } from '../cql2/parse.js';
import { FilterProblem } from '../cql2/problem.js';
import { faultToError } from '../faults.js';
import { docOf, isDoc, memberOf, type Doc } from '../json.js';
import { within, type Scope } from '../scope.js';
import { oneLine } from '../text.js';
import type { Criteria } from './criteria.js';
import { ITEM_MEMBERS, KNOWN_PROPERTIES } from './known-properties.js';
import { propertyOf } from './query.js';
import { asQuestion, didYouMean, closestMatches } from '@toolkeel/pack-kit';

/** The collections that a catalogue was seen to have, with the properties that they summarise. */
export interface SeenCollections {
  readonly byId: ReadonlyMap<string, readonly string[]>;
  /** Whether these are all. */
  readonly complete: boolean;
}

/** What a diagnosis may take of the time that is left: the answer does not depend on it. */
const SHARE_OF_TIME = 0.5;
const LIST_LIMIT = 1_000;
const MAX_NOTES = 5;

export function seenCollections(docs: readonly Doc[], complete: boolean): SeenCollections {
  const entries = docs.map((doc) => {
    const names = Object.keys(docOf(doc['summaries']) ?? {});
    return [String(doc['id']), names.slice(0, 200)] as const;
  });
  return { byId: new Map(entries), complete };
}

/** From memory, or with one request for the first page of the list. Never fails the call. */
export async function knownCollections(
  client: Client,
  catalog: Catalog,
  landing: Landing,
  scope: Scope,
): Promise<SeenCollections | undefined> {
  const { collections, can } = landing;
  if (!collections) return linkedCollections(landing);
  return client.seenCollections.get(catalog.name) ?? optional(load());

  async function load(): Promise<SeenCollections> {
    const url = new URL(collections!);
    if (can.has('collection_search')) url.searchParams.set('limit', String(LIST_LIMIT));
    const request = { method: 'GET', url } as const;
    const page = await collectionsPage(client, catalog, request, partOf(client, scope));
    const seen = seenCollections(page.collections, page.next === undefined);
    client.seenCollections.set(catalog.name, seen);
    return seen;
  }
}

/** A server without a list of collections links to them: their ids are in the URLs. */
function linkedCollections({ doc }: Landing): SeenCollections | undefined {
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

/** The names that a catalogue's queryables list, with one request where they are not cached. */
async function knownQueryables(
  client: Client,
  catalog: Catalog,
  { queryables }: Landing,
  scope: Scope,
): Promise<readonly string[] | undefined> {
  if (!queryables) return undefined;
  const cached = client.seenQueryables.get(catalog.name);
  if (cached) return cached;
  const loading = client.get(catalog, queryables, 'queryables', partOf(client, scope));
  const loaded = await optional(loading);
  const names = loaded && Object.keys(docOf(loaded.doc['properties']) ?? {});
  if (names) client.seenQueryables.set(catalog.name, names);
  return names;
}

function partOf(client: Client, scope: Scope): Scope {
  const now = client.now();
  return within(scope, { deadline: now + (scope.deadline - now) * SHARE_OF_TIME });
}

async function optional<T>(loading: Promise<T>): Promise<T | undefined> {
  try {
    return await loading;
  } catch (cause) {
    if (cause instanceof FaultError) return undefined;
    throw cause;
  }
}

/**
 * Why a search that found nothing, or that the catalogue rejected, may be wrong: collections and
 * properties that the catalogue does not have, with suggestions. At most one request.
 */
export async function diagnose(
  client: Client,
  catalog: Catalog,
  landing: Landing,
  criteria: Criteria,
  scope: Scope,
  seen?: SeenCollections,
): Promise<readonly string[]> {
  const { collections = [] } = criteria;
  const names = propertiesIn(criteria);
  const isUnknown = (name: string) => !isKnownProperty(name);
  if (collections.length > 0) {
    const known = seen ?? (await knownCollections(client, catalog, landing, scope));
    const missing = known ? collections.filter((id) => !known.byId.has(id)) : [];
    const summarized = collections.flatMap((id) => known?.byId.get(id) ?? []);
    const others = names.filter((name) => isUnknown(name) && !summarized.includes(name));
    return [
      ...missing.slice(0, MAX_NOTES).map((id) => collectionNote(id, catalog, known!)),
      ...others.slice(0, MAX_NOTES).map((name) => propertyNote(name, catalog, summarized)),
    ];
  }
  if (!names.some(isUnknown)) return [];
  const queryables = (await knownQueryables(client, catalog, landing, scope)) ?? [];
  return names
    .filter((name) => isUnknown(name) && !queryables.includes(name))
    .slice(0, MAX_NOTES)
    .map((name) => propertyNote(name, catalog, queryables));
}

/** Collections of the search that the catalogue does not have, with suggestions. At most one request. */
export async function missingCollections(
  client: Client,
  catalog: Catalog,
  landing: Landing,
  collections: readonly string[],
  scope: Scope,
): Promise<readonly string[]> {
  const known = await knownCollections(client, catalog, landing, scope);
  const missing = known ? collections.filter((id) => !known.byId.has(id)) : [];
  return missing.slice(0, MAX_NOTES).map((id) => collectionNote(id, catalog, known!));
}

function collectionNote(id: string, { name }: Catalog, { byId, complete }: SeenCollections) {
  const what = complete
    ? `${name} has no collection "${shown(id)}".`
    : `"${shown(id)}" is not among the ${byId.size} collections read from ${name}.`;
  return `${what}${didYouMean(id, byId.keys()) || ' search_collections finds collection ids.'}`;
}

function propertyNote(property: string, { name }: Catalog, candidates: readonly string[]): string {
  const hint = didYouMean(property, [...candidates, ...KNOWN_PROPERTIES]);
  return `"${shown(property)}" is not a property that ${name} is known to have.${hint || ' get_queryables lists those that it has.'}`;
}

function shown(name: string): string {
  return oneLine(name, 100);
}

/** Properties of the search that no returned item has. Needs no request. */
export function unseenProperties(
  items: readonly Doc[],
  criteria: Criteria,
  isProjected: boolean,
): readonly string[] {
  const missing = propertiesIn(criteria)
    .filter((name) => !isKnownProperty(name))
    .filter((name) => !items.some((item) => propertyOf(item, name) !== undefined));
  if (items.length === 0 || missing.length === 0) return [];
  const present = items.flatMap((item) => Object.keys(docOf(item['properties']) ?? {}));
  return missing.slice(0, MAX_NOTES).flatMap((name) => {
    const hint = didYouMean(name, [...present, ...KNOWN_PROPERTIES]);
    // A server that left out other members may still know the property.
    if (isProjected && hint === '') return [];
    return `No returned item has the property "${shown(name)}".${hint}`;
  });
}

/** Paths in `fields` that no returned item has. */
export function unseenFields(
  items: readonly Doc[],
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

function pathSuggestions(path: string, items: readonly Doc[]): readonly string[] {
  const namesIn = (member: string) =>
    items.flatMap((item) => Object.keys(docOf(item[member]) ?? {}));
  const [root, name = '', ...rest] = path.split('.');
  if (root === 'assets') {
    return closestMatches(name, namesIn('assets')).map((key) => ['assets', key, ...rest].join('.'));
  }
  const bare = withoutPrefix(path);
  if (path !== bare && KNOWN_PROPERTIES.has(bare)) return [];
  const properties = new Set([...namesIn('properties'), ...KNOWN_PROPERTIES]);
  // A property by its bare name only lacks the member that it is in.
  const found = properties.has(bare)
    ? [bare]
    : closestMatches(bare, [...properties, ...ITEM_MEMBERS]);
  return found.map((one) => (properties.has(one) ? `properties.${one}` : one));
}

function hasPath(doc: Doc, path: string): boolean {
  if (Object.hasOwn(doc, path)) return true;
  return Object.entries(doc).some(
    ([key, value]) =>
      path.startsWith(`${key}.`) && isDoc(value) && hasPath(value, path.slice(key.length + 1)),
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

function filterProperties(filter: string | Doc): readonly string[] {
  try {
    return [...propertyNodes(typeof filter === 'string' ? parseCql2(filter) : filter, 0)];
  } catch (cause) {
    // The server may understand a dialect that this parser does not.
    if (cause instanceof FilterProblem) return [];
    throw cause;
  }
}

const MAX_DEPTH = 50;

function* propertyNodes(node: unknown, depth: number): Generator<string> {
  if (depth > MAX_DEPTH) return;
  const name = memberOf(node, 'property');
  if (typeof name === 'string') yield name;
  const inner = Array.isArray(node) ? node : isDoc(node) ? Object.values(node) : [];
  for (const one of inner) yield* propertyNodes(one, depth + 1);
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

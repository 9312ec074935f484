import { objectOf, stringOf, stringsOf, type JsonObject } from '@toolkeel/pack-kit';
import type { CatalogCall } from '../api/catalog-call.js';
import {
  allCollections,
  collectionsPage,
  type AllCollections,
  type CollectionsPage,
} from '../api/collections.js';
import { collectionsUrl, type LandingPage } from '../api/landing.js';
import { linkTo } from '../api/links.js';
import { crossesAntimeridian, toBox } from '../geometry/box.js';
import { extentMayMatch, staticCollections } from '../static/search.js';
import { PAGE_SIZE } from './collect.js';
import type { Criteria } from './criteria.js';
import {
  appendToTrail,
  fitsToken,
  isRepeatedPage,
  packCursor,
  unpackCursor,
  type Cursor,
} from './cursor.js';
import type { FetchedList } from './page-buffer.js';
import { repeatsSecret, requestDigest, type PageRequest } from './page.js';
import { unsupported } from './plan.js';
import { LOOP, REPEATS_SECRET } from './search.js';

export interface CollectionQuery extends Pick<Criteria, 'bbox' | 'datetime' | 'span'> {
  readonly q: string | undefined;
  readonly limit: number;
}

/** Collections of one catalogue, and where the list continues. */
export interface CollectionSearchResult extends FetchedList {
  readonly matched: number | null;
  readonly searched: 'server' | 'local' | 'list';
}

/** Searches collections on the server if it supports the query, else locally. */
export function searchCollections(
  call: CatalogCall,
  query: CollectionQuery,
  cursor: Cursor | undefined,
): Promise<CollectionSearchResult> {
  const { limit, ...key } = query;
  return call.client.collectionBuffer.page(
    [call.catalog.name, key],
    { limit, cursor },
    async () => {
      const landing = await call.landing();
      const search = isSupportedByServer(landing, query) ? searchOnServer : searchLocally;
      return search(call, landing, query, cursor);
    },
  );
}

function isFiltered({ q, bbox, datetime }: CollectionQuery): boolean {
  return q !== undefined || bbox !== undefined || datetime !== undefined;
}

function isSupportedByServer(
  { kind, capabilities, collections }: LandingPage,
  query: CollectionQuery,
): boolean {
  if (kind === 'static' || !collections) return false;
  if (!isFiltered(query)) return true;
  const box = query.bbox && toBox(query.bbox);
  // Collection search has no geometry parameter, and not every server accepts a wrapped bbox.
  if (!capabilities.has('collection_search') || (box && crossesAntimeridian(box))) return false;
  return query.q === undefined || capabilities.has('collection_free_text');
}

async function searchOnServer(
  call: CatalogCall,
  landing: LandingPage,
  query: CollectionQuery,
  cursor: Cursor | undefined,
): Promise<CollectionSearchResult> {
  const first = firstRequest(landing, query);
  const request = cursor ? unpackCursor(cursor, first) : first;
  const page = await collectionsPage(call, request);
  const skip = cursor?.skip ?? 0;
  const seen = [...(cursor?.seen ?? []), requestDigest(request)];
  const { next } = page;
  const trail = cursor?.trail;
  const isRepeated = skip === 0 && isRepeatedPage(page.collections, trail);
  const isSecret = next !== undefined && repeatsSecret(next, call.catalog.secrets);
  const isLoop = isRepeated || (next !== undefined && seen.includes(requestDigest(next)));
  const items = isRepeated ? [] : page.collections.slice(skip);
  const cursorInPage = (from: number) =>
    packCursor(request, first, { skip: from, seen: seen.slice(0, -1), trail });
  const nextCursor =
    next && !isLoop && !isSecret && page.collections.length > 0
      ? packCursor(next, first, { seen, trail: appendToTrail(trail, page.collections) })
      : undefined;
  return {
    items,
    matched: matchedIn(page, seen.length === 1),
    searched: isFiltered(query) ? 'server' : 'list',
    warnings: [...(isLoop ? [LOOP] : []), ...(isSecret ? [REPEATS_SECRET] : [])],
    next: nextCursor && fitsToken(nextCursor) ? nextCursor : undefined,
    after: (kept) => (kept < items.length || !nextCursor ? cursorInPage(skip + kept) : nextCursor),
  };
}

/** The number that the server reports, else the length of a list with a single page. */
function matchedIn({ matched, collections, next }: CollectionsPage, isFirst: boolean) {
  // Some servers report the size of the page.
  if (matched !== undefined && matched >= collections.length) return matched;
  return !next && isFirst ? collections.length : null;
}

function firstRequest(
  landing: LandingPage,
  { q, bbox, datetime, limit }: CollectionQuery,
): PageRequest {
  const url = new URL(collectionsUrl(landing));
  if (q !== undefined) url.searchParams.set('q', q);
  if (bbox) url.searchParams.set('bbox', bbox.join(','));
  if (datetime !== undefined) url.searchParams.set('datetime', datetime);
  // Servers without collection search may reject the parameter.
  if (landing.capabilities.has('collection_search'))
    url.searchParams.set('limit', String(Math.min(limit, PAGE_SIZE)));
  return { method: 'GET', url };
}

async function searchLocally(
  call: CatalogCall,
  landing: LandingPage,
  query: CollectionQuery,
  cursor: Cursor | undefined,
): Promise<CollectionSearchResult> {
  const request: PageRequest = { method: 'GET', url: collectionsUrl(landing) };
  const {
    collections,
    complete,
    circular = false,
  }: AllCollections = landing.collections
    ? await allCollections(call, request)
    : await linkedCollections(call, landing);
  const matching = matchCollections(collections, query);
  const skip = cursor?.skip ?? 0;
  return {
    items: matching.slice(skip),
    matched: complete ? matching.length : null,
    searched: 'local',
    warnings: [
      ...(circular ? [LOOP] : []),
      ...(complete || circular
        ? []
        : [`Only ${collections.length} collections could be searched in time.`]),
    ],
    after: (kept) => packCursor(request, request, { skip: skip + kept, seen: [] }),
  };
}

/** Without a list of collections: those that the landing page links to. */
function linkedCollections(call: CatalogCall, landing: LandingPage) {
  if (landing.kind === 'api' && !linkTo(landing.doc, 'child')) {
    unsupported('collections', 'This catalogue does not list its collections.');
  }
  return staticCollections(call, landing);
}

/** The matching collections, best first. */
function matchCollections(
  collections: readonly JsonObject[],
  query: CollectionQuery,
): readonly JsonObject[] {
  return collections
    .filter((collection) => extentMayMatch(collection, query))
    .map((collection) => ({ collection, score: scoreOf(collection, query.q) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .map(({ collection }) => collection);
}

/** How well a collection matches the words of a free-text query; 0 if it does not. */
export function scoreOf(collection: JsonObject, q = ''): number {
  const terms = parseTerms(q);
  if (terms.length === 0) return 1;
  const texts = weightedTexts(collection);
  const scoreOfTerm = (words: readonly string[]) => {
    const scores = words.map((word) =>
      Math.max(0, ...texts.map(([text, weight]) => (text.includes(word) ? weight : 0))),
    );
    return scores.includes(0) ? 0 : scores.reduce((sum, score) => sum + score, 0) / scores.length;
  };
  return Math.max(...terms.map(scoreOfTerm));
}

/** As in the free-text extension: commas separate alternatives, and all words of one must occur. */
function parseTerms(q: string): readonly (readonly string[])[] {
  return q
    .toLowerCase()
    .split(',')
    .map((term) => term.split(/\s+/).filter(Boolean))
    .filter((words) => words.length > 0);
}

function weightedTexts(
  collection: JsonObject,
): readonly (readonly [text: string, weight: number])[] {
  const text = (value: unknown) => (stringOf(value) ?? '').toLowerCase();
  const summaries = objectOf(collection['summaries']);
  const platforms = [
    ...stringsOf(summaries?.['platform']),
    ...stringsOf(summaries?.['instruments']),
  ];
  return [
    [text(collection['id']), 4],
    [text(collection['title']), 4],
    [stringsOf(collection['keywords']).join(' ').toLowerCase(), 2],
    [platforms.join(' ').toLowerCase(), 2],
    [text(collection['description']), 1],
  ];
}

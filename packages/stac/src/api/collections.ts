import { badResponse, objectsOf, stringOf, type JsonObject } from '@toolkeel/pack-kit';
import { documentOf } from '../http/requests.js';
import { matchedOf, nextRequest, requestDigest, type PageRequest } from '../search/page.js';
import type { CatalogCall } from './catalog-call.js';

export interface CollectionsPage {
  readonly request: PageRequest;
  readonly collections: readonly JsonObject[];
  readonly matched?: number;
  readonly next?: PageRequest;
}

const MAX_PAGES = 40;
/** The share of the remaining time that reading all pages may take. */
const SHARE_OF_TIME = 0.8;

/** One page of the list of collections. Not every server paginates it. */
export async function collectionsPage(
  call: CatalogCall,
  request: PageRequest,
): Promise<CollectionsPage> {
  const { method, url, headers, body } = request;
  const text = method === 'POST' ? JSON.stringify(body ?? {}) : undefined;
  const response = await call.send({ method, url, headers, body: text, route: 'collections' });
  const { doc, url: at } = documentOf(response);
  if (!Array.isArray(doc['collections'])) throw badResponse(at, 'no list of collections in it');
  const next = nextRequest(doc, at, request);
  const collections = objectsOf(doc['collections']).filter(({ id }) => stringOf(id) !== undefined);
  const matched = matchedOf(doc);
  return { request, collections, ...(matched !== undefined && { matched }), ...(next && { next }) };
}

/** The collections that could be read. */
export interface AllCollections {
  readonly collections: readonly JsonObject[];
  /** Whether the whole list was read. */
  readonly complete: boolean;
  /** Whether the list repeated a page. */
  readonly circular?: boolean;
}

export async function allCollections(
  call: CatalogCall,
  first: PageRequest,
): Promise<AllCollections> {
  const { deadline: stopAt } = call.withTimeShare(SHARE_OF_TIME).context;
  const byId = new Map<string, JsonObject>();
  const seen = new Set<string>();
  let request: PageRequest | undefined = first;
  for (let pages = 0; request; pages++) {
    if (pages >= MAX_PAGES || (pages > 0 && call.now() >= stopAt)) break;
    seen.add(requestDigest(request));
    const page = await collectionsPage(call, request);
    const before = byId.size;
    for (const collection of page.collections) byId.set(String(collection['id']), collection);
    const { next } = page;
    const collections = [...byId.values()];
    // Some servers end a list with an empty page that still has a `next` link.
    if (!next || page.collections.length === 0) return { collections, complete: true };
    // A page without new collections is a repeated one: the rest of the list cannot be reached.
    const isCircular = seen.has(requestDigest(next)) || byId.size === before;
    if (isCircular) return { collections, complete: false, circular: true };
    request = next;
  }
  return { collections: [...byId.values()], complete: false };
}

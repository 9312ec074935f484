import { docsOf, matchedOf, textOf, type Doc } from '../json.js';
import { badAnswer } from '../http/exchange.js';
import { documentOf } from '../http/documents.js';
import type { CallContext } from '../call-context.js';
import { identityOf, nextRequest, type PageRequest } from '../search/page.js';
import type { Catalog } from './catalogs.js';
import type { Client } from './client.js';

export interface CollectionsPage {
  readonly request: PageRequest;
  readonly collections: readonly Doc[];
  readonly matched?: number;
  readonly next?: PageRequest;
}

const MAX_PAGES = 40;
/** The share of the time that is left that reading all pages may take. */
const SHARE_OF_TIME = 0.8;

/** One page of the list of collections. Not every server pages it, and not all that do say so. */
export async function collectionsPage(
  client: Client,
  catalog: Catalog,
  request: PageRequest,
  scope: CallContext,
): Promise<CollectionsPage> {
  const { method, url, headers, body } = request;
  const text = method === 'POST' ? JSON.stringify(body ?? {}) : undefined;
  const sent = { catalog, method, url, headers, body: text, route: 'collections' };
  const { doc, url: at } = documentOf(await client.gateway.send(sent, scope));
  if (!Array.isArray(doc['collections'])) throw badAnswer(at, 'no list of collections in it');
  const next = nextRequest(doc, at, request);
  const collections = docsOf(doc['collections']).filter((one) => textOf(one['id']) !== undefined);
  const matched = matchedOf(doc);
  return { request, collections, ...(matched !== undefined && { matched }), ...(next && { next }) };
}

/** All collections, as far as they could be read. */
export interface AllCollections {
  readonly collections: readonly Doc[];
  /** Whether it came to the end. */
  readonly complete: boolean;
  /** Whether the list led back to what it had given before. */
  readonly circular?: boolean;
}

export async function allCollections(
  client: Client,
  catalog: Catalog,
  first: PageRequest,
  scope: CallContext,
): Promise<AllCollections> {
  const begun = client.now();
  const stopAt = begun + (scope.deadline - begun) * SHARE_OF_TIME;
  const byId = new Map<string, Doc>();
  const seen = new Set<string>();
  let request: PageRequest | undefined = first;
  for (let pages = 0; request; pages++) {
    if (pages >= MAX_PAGES || (pages > 0 && client.now() >= stopAt)) break;
    seen.add(identityOf(request));
    const page = await collectionsPage(client, catalog, request, scope);
    const before = byId.size;
    for (const one of page.collections) byId.set(String(one['id']), one);
    const { next } = page;
    const collections = [...byId.values()];
    // Some servers end a list with an empty page that still has a link.
    if (!next || page.collections.length === 0) return { collections, complete: true };
    // A page without anything new: whether there is more cannot be known from going round.
    const isCircular = seen.has(identityOf(next)) || byId.size === before;
    if (isCircular) return { collections, complete: false, circular: true };
    request = next;
  }
  return { collections: [...byId.values()], complete: false };
}

import { FaultError } from '@toolkeel/kernel';
import { textOf, type Doc } from '../json.js';
import type { Scope } from '../scope.js';
import { knownCollections } from '../search/diagnose.js';
import { searchItems } from '../search/search.js';
import { missing, staticCollection, staticItem } from '../static/find.js';
import type { Catalog } from './catalog.js';
import type { Client } from './client.js';
import type { Landing } from './landing.js';
import { below } from './links.js';

/** One collection. Ends the call with `not_found` if there is none of that id. */
export async function getCollection(
  client: Client,
  catalog: Catalog,
  id: string,
  scope: Scope,
): Promise<Doc> {
  const landing = await client.landing(catalog, scope);
  if (landing.kind === 'static') return staticCollection(client, catalog, landing, id, scope);
  const url = below(collectionsUrl(landing), id);
  const found = await unlessMissing(client.get(catalog, url, 'collection', scope));
  if (found) return found;
  const known = await knownCollections(client, catalog, landing, scope);
  return missing('collection', id, catalog, known?.byId.keys());
}

/** One item. Ends the call with `not_found` if there is none of that id. */
export async function getItem(
  client: Client,
  catalog: Catalog,
  ids: readonly [collectionId: string, itemId: string],
  scope: Scope,
): Promise<Doc> {
  const [collectionId, itemId] = ids;
  const landing = await client.landing(catalog, scope);
  if (landing.kind === 'static') return staticItem(client, catalog, landing, ids, scope);
  if (!landing.collections && landing.search) {
    const criteria = { collections: [collectionId], ids: [itemId] };
    const { items } = await searchItems(client, catalog, criteria, { limit: 1 }, scope);
    return items.find((item) => item['id'] === itemId) ?? missing('item', itemId, catalog);
  }
  const url = below(collectionsUrl(landing), collectionId, 'items', itemId);
  const found = await unlessMissing(client.get(catalog, url, 'item', scope));
  if (found) return found;
  const known = await knownCollections(client, catalog, landing, scope);
  return known?.complete && !known.byId.has(collectionId)
    ? missing('collection', collectionId, catalog, known.byId.keys())
    : missing('item', itemId, catalog);
}

export function collectionsUrl({ collections, url }: Landing): URL {
  return collections ?? below(url, 'collections');
}

async function unlessMissing(loading: Promise<{ readonly doc: Doc }>): Promise<Doc | undefined> {
  try {
    const { doc } = await loading;
    // Some servers answer with an empty object or a message for what they do not have.
    return textOf(doc['id']) === undefined ? undefined : doc;
  } catch (cause) {
    const status = cause instanceof FaultError ? cause.fault.status : undefined;
    if (status === 404 || status === 410) return undefined;
    throw cause;
  }
}

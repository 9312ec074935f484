import { raise, toolError } from '@toolkeel/contract';
import type { Catalog } from '../api/catalog.js';
import type { Client } from '../api/client.js';
import type { Landing } from '../api/landing.js';
import { textOf, type Doc } from '../json.js';
import type { Scope } from '../scope.js';
import { didYouMean } from '@toolkeel/pack-kit';
import { isCollection } from './match.js';
import { walk } from './walk.js';

/** All collections of a static catalogue, as far as a walk gets. */
export async function staticCollections(
  client: Client,
  catalog: Catalog,
  landing: Landing,
  scope: Scope,
): Promise<{ readonly collections: readonly Doc[]; readonly complete: boolean }> {
  const collections: Doc[] = [];
  const enter = (doc: Doc) => {
    if (isCollection(doc)) collections.push(doc);
    return { items: false, children: true };
  };
  const visitor = { enter, done: () => false };
  const { complete } = await walk(client, catalog, landing, visitor, scope);
  return { collections, complete };
}

export async function staticCollection(
  client: Client,
  catalog: Catalog,
  landing: Landing,
  id: string,
  scope: Scope,
): Promise<Doc> {
  let found: Doc | undefined;
  const ids: string[] = [];
  const enter = (doc: Doc) => {
    if (isCollection(doc)) ids.push(String(doc['id']));
    if (isCollection(doc) && doc['id'] === id) found = doc;
    return { items: false, children: true };
  };
  const visitor = { enter, done: () => found !== undefined, rank: nearestTo(id) };
  await walk(client, catalog, landing, visitor, scope);
  return found ?? missing('collection', id, catalog, ids);
}

export async function staticItem(
  client: Client,
  catalog: Catalog,
  landing: Landing,
  [collectionId, itemId]: readonly [string, string],
  scope: Scope,
): Promise<Doc> {
  let found: Doc | undefined;
  const visitor = {
    enter: (doc: Doc) => ({
      // An item may name another collection than the one that links to it.
      items: !isCollection(doc) || doc['id'] === collectionId || ('last' as const),
      children: true,
    }),
    item: (item: Doc, parent: Doc) => {
      const collection = textOf(item['collection']) ?? (isCollection(parent) ? parent['id'] : '');
      if (item['id'] === itemId && collection === collectionId) found = { ...item, collection };
    },
    done: () => found !== undefined,
    rank: nearestTo(collectionId, itemId),
  };
  await walk(client, catalog, landing, visitor, scope);
  return found ?? missing('item', itemId, catalog);
}

/** Files are usually named after what is in them: those first. */
function nearestTo(...names: readonly string[]): (href: string) => number {
  const encoded = names.map((name) => encodeURIComponent(name));
  return (href) => -encoded.filter((name) => href.includes(name)).length;
}

export function missing(
  resource: string,
  id: string,
  { name }: Catalog,
  candidates: Iterable<string> = [],
): never {
  const message = `${name} has no ${resource} "${id}".${didYouMean(id, candidates)}`;
  return raise(toolError('not_found', message, { details: { resource, id } }));
}

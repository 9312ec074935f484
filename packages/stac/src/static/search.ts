import type { Catalog } from '../api/catalogs.js';
import type { Client } from '../api/client.js';
import type { Landing } from '../api/landing.js';
import { type Doc, docOf, listOf, textOf } from '../json.js';
import { createEffort, type Effort, readShape } from '../geometry/shape.js';
import type { CallContext } from '../call-context.js';
import type { Criteria } from '../search/criteria.js';
import type { Cursor } from '../search/cursor.js';
import { seenCollections } from '../search/diagnose.js';
import { unsupported } from '../search/plan.js';
import type { Found, SearchOptions } from '../search/search.js';
import { type Visitor, walk, type Walked } from './walk.js';
import { raise, toolError } from '@toolkeel/contract';
import { didYouMean } from '../search/suggest.js';
import { touch } from '../geometry/intersects.js';
import { asGeometry, type Box, boxesTouch, boxOf, boxOfGeometry, flat } from '../geometry/box.js';
import { touches } from '../search/datetime.js';
import { meetsQuery } from '../search/query.js';

/** A search through files: slower than asking a server, and bounded, but the same to the caller. */
export async function searchStatic(
  client: Client,
  catalog: Catalog,
  landing: Landing,
  criteria: Criteria,
  { limit, cursor }: SearchOptions,
  scope: CallContext,
): Promise<Found> {
  if (criteria.filter !== undefined) {
    unsupported('filter', 'A static catalogue cannot be asked with CQL2. Use `query` instead.');
  }
  const skip = cursor?.skip ?? 0;
  const found: Doc[] = [];
  const collections: Doc[] = [];
  const effort = createEffort(scope.signal);
  const walked = await walk(
    client,
    catalog,
    landing,
    {
      enter: (doc) => {
        if (isCollection(doc)) collections.push(doc);
        return wanted(doc, criteria);
      },
      item: async (item, parent) => {
        const whole = withCollection(item, parent);
        if (await meetsCriteria(whole, criteria, effort)) found.push(whole);
      },
      // One more than asked for, to know whether there is more.
      done: () => found.length > skip + limit,
    },
    scope,
  );
  const items = found.slice(skip, skip + limit);
  const hasMore = found.length > skip + limit;
  const at = (from: number): Cursor => ({
    method: 'GET',
    url: landing.url.href,
    skip: from,
    seen: [],
  });
  return {
    items,
    // Without more to come, the walk has read everything.
    ...(walked.complete && !hasMore && { matched: found.length }),
    warnings: warningsOf(walked, criteria),
    endsEarly: !walked.complete,
    seen: seenCollections(collections, false),
    ...(hasMore && { next: at(skip + limit) }),
    after: (kept) => at(skip + kept),
  };
}

function wanted(doc: Doc, criteria: Criteria): ReturnType<Visitor['enter']> {
  if (!isCollection(doc)) return { items: true, children: true };
  const allows = extentAllows(doc, criteria);
  const { collections } = criteria;
  const isNamed = !collections || collections.includes(textOf(doc['id']) ?? '');
  // An item may name another collection than the one that links to it.
  return { items: allows && (isNamed || 'last'), children: allows };
}

function withCollection(item: Doc, parent: Doc): Doc {
  if (item['collection'] !== undefined || !isCollection(parent)) return item;
  return { ...item, collection: parent['id'] };
}

function warningsOf(
  { cutShort, cutLast, failures }: Walked,
  { sortby }: Criteria,
): readonly string[] {
  const warnings: string[] = [];
  if (sortby) warnings.push('A static catalogue cannot sort; the order is its own.');
  if (failures > 0) warnings.push(`${failures} documents of the catalogue could not be read.`);
  if (cutShort) warnings.push('The catalogue is too large to be walked in one call.');
  else if (cutLast) {
    warnings.push(
      'Items below other collections that name this collection were not all looked for.',
    );
  }
  return warnings;
}

/** All collections of a static catalogue, as far as a walk gets. */
export async function staticCollections(
  client: Client,
  catalog: Catalog,
  landing: Landing,
  scope: CallContext,
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
  scope: CallContext,
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
  scope: CallContext,
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

/** Whether an item is meant, decided here because the catalogue cannot be asked. */
async function meetsCriteria(
  item: Doc,
  criteria: Criteria,
  effort: Effort,
): Promise<boolean> {
  const { ids, collections, span, query } = criteria;
  if (collections && !collections.includes(textOf(item['collection']) ?? '')) return false;
  if (ids && !ids.includes(textOf(item['id']) ?? '')) return false;
  if (span && !touches(docOf(item['properties']) ?? {}, span)) return false;
  if (query && !meetsQuery(item, query)) return false;
  return inArea(item, criteria, effort);
}

async function inArea(item: Doc, { bbox, intersects }: Criteria, effort: Effort): Promise<boolean> {
  const area = intersects ? boxOfGeometry(intersects) : bbox && flat(bbox);
  if (!area) return true;
  const footprint = docOf(item['geometry']);
  const box = boxOf(item['bbox']);
  // A `bbox` of zeros beside a real geometry is a mistake that some catalogues make.
  const itemBox = box && !isDegenerate(box) ? box : (boxOfGeometry(footprint) ?? box);
  if (!itemBox || !boxesTouch(area, itemBox)) return false;
  if (!footprint) return true;
  return geometriesTouch(footprint, intersects ?? asGeometry(area), effort);
}

/** What is no geometry, or too difficult a one, is judged by its box, which has been compared. */
async function geometriesTouch(one: Doc, other: Doc, effort: Effort): Promise<boolean> {
  const [a, b] = [readShape(one), readShape(other)];
  return a && b ? ((await touch(a, b, effort)) ?? true) : true;
}

/** Whether a collection's extent leaves room for what is sought. One without an extent always does. */
export function extentAllows(collection: Doc, { bbox, intersects, span }: Criteria): boolean {
  const extent = docOf(collection['extent']);
  const [whole] = listOf(docOf(extent?.['spatial'])?.['bbox']);
  const box = boxOf(whole);
  const area: Box | undefined = intersects ? boxOfGeometry(intersects) : bbox && flat(bbox);
  if (box && area && !isDegenerate(box) && !boxesTouch(box, area)) return false;
  const [interval] = listOf(docOf(extent?.['temporal'])?.['interval']);
  if (!span || !Array.isArray(interval)) return true;
  const [start = NaN, end = NaN] = interval.map((value) => Date.parse(textOf(value) ?? ''));
  if (start > end) return true;
  return !(start > span.to) && !(end < span.from);
}

/** Without an area, or with its south above its north: nothing may be left out because of such a box. */
function isDegenerate([west, south, east, north]: Box): boolean {
  return west === east || south >= north;
}

function isCollection(doc: Doc): boolean {
  return textOf(doc['type']) === 'Collection' || docOf(doc['extent']) !== undefined;
}

import { raise, toolError } from '@toolkeel/contract';
import { arrayOf, didYouMean, objectOf, stringOf, type JsonObject } from '@toolkeel/pack-kit';
import type { CatalogCall } from '../api/catalog-call.js';
import type { Catalog } from '../api/catalogs.js';
import type { LandingPage } from '../api/landing.js';
import {
  boxesIntersect,
  boxOf,
  boxOfGeometry,
  boxToGeometry,
  toBox,
  type Box,
} from '../geometry/box.js';
import { shapesIntersect } from '../geometry/intersects.js';
import { createWorkBudget, parseShape, type WorkBudget } from '../geometry/shape.js';
import type { Criteria } from '../search/criteria.js';
import type { Cursor } from '../search/cursor.js';
import { overlapsSpan } from '../search/datetime.js';
import { knownCollectionsFrom } from '../search/diagnose.js';
import { unsupported } from '../search/plan.js';
import { matchesQuery } from '../search/query.js';
import type { SearchOptions, SearchResult } from '../search/search.js';
import { walk, type Visitor, type WalkResult } from './walk.js';

/** Searches a static catalogue by reading its files, within limits. */
export async function searchStatic(
  call: CatalogCall,
  landing: LandingPage,
  criteria: Criteria,
  { limit, cursor }: SearchOptions,
): Promise<SearchResult> {
  if (criteria.filter !== undefined) {
    unsupported('filter', 'A static catalogue does not support CQL2. Use `query` instead.');
  }
  const skip = cursor?.skip ?? 0;
  const found: JsonObject[] = [];
  const collections: JsonObject[] = [];
  const budget = createWorkBudget(call.context.signal);
  const walked = await walk(call, landing, {
    enter: (doc) => {
      if (isCollection(doc)) collections.push(doc);
      return partsToRead(doc, criteria);
    },
    item: async (item, parent) => {
      const whole = withCollection(item, parent);
      if (await matchesCriteria(whole, criteria, budget)) found.push(whole);
    },
    // One more than requested, to know whether there are more.
    done: () => found.length > skip + limit,
  });
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
    ...(walked.complete && !hasMore && { matched: found.length }),
    warnings: warningsOf(walked, criteria),
    endsEarly: !walked.complete,
    known: knownCollectionsFrom(collections, false),
    ...(hasMore && { next: at(skip + limit) }),
    after: (kept) => at(skip + kept),
  };
}

function partsToRead(doc: JsonObject, criteria: Criteria): ReturnType<Visitor['enter']> {
  if (!isCollection(doc)) return { items: true, children: true };
  const allows = extentMayMatch(doc, criteria);
  const { collections } = criteria;
  const isNamed = !collections || collections.includes(stringOf(doc['id']) ?? '');
  // An item may name another collection than the one that links to it.
  return { items: allows && (isNamed || 'last'), children: allows };
}

function withCollection(item: JsonObject, parent: JsonObject): JsonObject {
  if (item['collection'] !== undefined || !isCollection(parent)) return item;
  return { ...item, collection: parent['id'] };
}

function warningsOf(
  { cutShort, cutLast, failures }: WalkResult,
  { sortby }: Criteria,
): readonly string[] {
  const warnings: string[] = [];
  if (sortby) warnings.push('A static catalogue cannot sort; items are in catalogue order.');
  if (failures > 0) warnings.push(`${failures} documents of the catalogue could not be read.`);
  if (cutShort) warnings.push('The catalogue is too large to be read in one call.');
  else if (cutLast) {
    warnings.push('Not all items below other collections that name this collection were read.');
  }
  return warnings;
}

/** The collections of a static catalogue that a walk reaches. */
export async function staticCollections(
  call: CatalogCall,
  landing: LandingPage,
): Promise<{ readonly collections: readonly JsonObject[]; readonly complete: boolean }> {
  const collections: JsonObject[] = [];
  const enter = (doc: JsonObject) => {
    if (isCollection(doc)) collections.push(doc);
    return { items: false, children: true };
  };
  const visitor = { enter, done: () => false };
  const { complete } = await walk(call, landing, visitor);
  return { collections, complete };
}

export async function staticCollection(
  call: CatalogCall,
  landing: LandingPage,
  id: string,
): Promise<JsonObject> {
  let found: JsonObject | undefined;
  const ids: string[] = [];
  const enter = (doc: JsonObject) => {
    if (isCollection(doc)) ids.push(String(doc['id']));
    if (isCollection(doc) && doc['id'] === id) found = doc;
    return { items: false, children: true };
  };
  const visitor = { enter, done: () => found !== undefined, rank: rankByName(id) };
  await walk(call, landing, visitor);
  return found ?? missing('collection', id, call.catalog, ids);
}

export async function staticItem(
  call: CatalogCall,
  landing: LandingPage,
  [collectionId, itemId]: readonly [string, string],
): Promise<JsonObject> {
  let found: JsonObject | undefined;
  const visitor = {
    enter: (doc: JsonObject) => ({
      // An item may name another collection than the one that links to it.
      items: !isCollection(doc) || doc['id'] === collectionId || ('last' as const),
      children: true,
    }),
    item: (item: JsonObject, parent: JsonObject) => {
      const collection = stringOf(item['collection']) ?? (isCollection(parent) ? parent['id'] : '');
      if (item['id'] === itemId && collection === collectionId) found = { ...item, collection };
    },
    done: () => found !== undefined,
    rank: rankByName(collectionId, itemId),
  };
  await walk(call, landing, visitor);
  return found ?? missing('item', itemId, call.catalog);
}

/** Prefers links that contain a name, because files are usually named after their content. */
function rankByName(...names: readonly string[]): (href: string) => number {
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

/** Evaluates the criteria locally. */
async function matchesCriteria(
  item: JsonObject,
  criteria: Criteria,
  budget: WorkBudget,
): Promise<boolean> {
  const { ids, collections, span, query } = criteria;
  if (collections && !collections.includes(stringOf(item['collection']) ?? '')) return false;
  if (ids && !ids.includes(stringOf(item['id']) ?? '')) return false;
  if (span && !overlapsSpan(objectOf(item['properties']) ?? {}, span)) return false;
  if (query && !matchesQuery(item, query)) return false;
  return inArea(item, criteria, budget);
}

async function inArea(
  item: JsonObject,
  { bbox, intersects }: Criteria,
  budget: WorkBudget,
): Promise<boolean> {
  const area = intersects ? boxOfGeometry(intersects) : bbox && toBox(bbox);
  if (!area) return true;
  const footprint = objectOf(item['geometry']);
  const box = boxOf(item['bbox']);
  // Some catalogues have a zero `bbox` beside a valid geometry.
  const itemBox = box && !isDegenerate(box) ? box : (boxOfGeometry(footprint) ?? box);
  if (!itemBox || !boxesIntersect(area, itemBox)) return false;
  if (!footprint) return true;
  return geometriesIntersect(footprint, intersects ?? boxToGeometry(area), budget);
}

/** Invalid or too complex geometries count as intersecting, because their boxes do. */
async function geometriesIntersect(
  left: JsonObject,
  right: JsonObject,
  budget: WorkBudget,
): Promise<boolean> {
  const [a, b] = [parseShape(left), parseShape(right)];
  return a && b ? ((await shapesIntersect(a, b, budget)) ?? true) : true;
}

/** Whether the extent of a collection allows a match. A collection without an extent may always match. */
export function extentMayMatch(
  collection: JsonObject,
  { bbox, intersects, span }: Criteria,
): boolean {
  const extent = objectOf(collection['extent']);
  const [whole] = arrayOf(objectOf(extent?.['spatial'])?.['bbox']);
  const box = boxOf(whole);
  const area: Box | undefined = intersects ? boxOfGeometry(intersects) : bbox && toBox(bbox);
  if (box && area && !isDegenerate(box) && !boxesIntersect(box, area)) return false;
  const [interval] = arrayOf(objectOf(extent?.['temporal'])?.['interval']);
  if (!span || !Array.isArray(interval)) return true;
  const [start = NaN, end = NaN] = interval.map((value) => Date.parse(stringOf(value) ?? ''));
  if (start > end) return true;
  return !(start > span.to) && !(end < span.from);
}

/** Boxes without an area or with south above north are invalid and must not exclude anything. */
function isDegenerate([west, south, east, north]: Box): boolean {
  return west === east || south >= north;
}

function isCollection(doc: JsonObject): boolean {
  return stringOf(doc['type']) === 'Collection' || objectOf(doc['extent']) !== undefined;
}

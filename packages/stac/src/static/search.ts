import type { Catalog } from '../api/catalog.js';
import type { Client } from '../api/client.js';
import type { Landing } from '../api/landing.js';
import { textOf, type Doc } from '../json.js';
import { createEffort } from '../plane/effort.js';
import type { Scope } from '../scope.js';
import type { Criteria } from '../search/criteria.js';
import type { Cursor } from '../search/cursor.js';
import { seenCollections } from '../search/diagnose.js';
import { unsupported } from '../search/plan.js';
import type { Found, SearchOptions } from '../search/search.js';
import { extentAllows, isCollection, meetsCriteria } from './match.js';
import { walk, type Visitor, type Walked } from './walk.js';

/** A search through files: slower than asking a server, and bounded, but the same to the caller. */
export async function searchStatic(
  client: Client,
  catalog: Catalog,
  landing: Landing,
  criteria: Criteria,
  { limit, cursor }: SearchOptions,
  scope: Scope,
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

import { docOf, listOf, textOf, type Doc } from '../json.js';
import { asGeometry, boxesTouch, boxOf, flat, type Box } from '../search/bbox.js';
import type { Criteria } from '../search/criteria.js';
import { touches } from '../search/datetime.js';
import { boxOfGeometry } from '../search/geometry.js';
import { meetsQuery } from '../search/query.js';

/** Whether an item is meant, decided here because the catalogue cannot be asked. */
export async function meetsCriteria(item: Doc, criteria: Criteria): Promise<boolean> {
  const { ids, collections, span, query } = criteria;
  if (collections && !collections.includes(textOf(item['collection']) ?? '')) return false;
  if (ids && !ids.includes(textOf(item['id']) ?? '')) return false;
  if (span && !touches(docOf(item['properties']) ?? {}, span)) return false;
  if (query && !meetsQuery(item, query)) return false;
  return inArea(item, criteria);
}

async function inArea(item: Doc, { bbox, intersects }: Criteria): Promise<boolean> {
  const area = intersects ? boxOfGeometry(intersects) : bbox && flat(bbox);
  if (!area) return true;
  const itemBox = boxOf(item['bbox']) ?? boxOfGeometry(item['geometry']);
  if (!itemBox || !boxesTouch(area, itemBox)) return false;
  const footprint = docOf(item['geometry']);
  if (!footprint) return true;
  return geometriesTouch(footprint, intersects ?? asGeometry(area));
}

/** Exact, on the plane of longitudes and latitudes, as catalogues do it themselves. */
async function geometriesTouch(one: Doc, other: Doc): Promise<boolean> {
  const { booleanIntersects } = await import('@turf/boolean-intersects');
  type Shape = Parameters<typeof booleanIntersects>[0];
  try {
    return booleanIntersects(one as unknown as Shape, other as unknown as Shape);
  } catch {
    // A footprint that is no geometry: its box has been compared already.
    return true;
  }
}

/** Whether a collection's extent leaves room for what is sought. One without an extent always does. */
export function extentAllows(collection: Doc, { bbox, intersects, span }: Criteria): boolean {
  const extent = docOf(collection['extent']);
  const [whole] = listOf(docOf(extent?.['spatial'])?.['bbox']);
  const box = boxOf(whole);
  const area: Box | undefined = intersects ? boxOfGeometry(intersects) : bbox && flat(bbox);
  if (box && area && !boxesTouch(box, area)) return false;
  const [interval] = listOf(docOf(extent?.['temporal'])?.['interval']);
  if (!span || !Array.isArray(interval)) return true;
  const [start, end] = interval.map((value) => Date.parse(textOf(value) ?? ''));
  return !((start ?? NaN) > span.to) && !((end ?? NaN) < span.from);
}

export function isCollection(doc: Doc): boolean {
  return textOf(doc['type']) === 'Collection' || docOf(doc['extent']) !== undefined;
}

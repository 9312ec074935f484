import { docOf, listOf, textOf, type Doc } from '../json.js';
import type { Effort } from '../plane/effort.js';
import { readShape } from '../plane/shape.js';
import { touch } from '../plane/touch.js';
import { asGeometry, boxesTouch, boxOf, flat, type Box } from '../search/bbox.js';
import type { Criteria } from '../search/criteria.js';
import { touches } from '../search/datetime.js';
import { boxOfGeometry } from '../search/geometry.js';
import { meetsQuery } from '../search/query.js';

/** Whether an item is meant, decided here because the catalogue cannot be asked. */
export async function meetsCriteria(
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

export function isCollection(doc: Doc): boolean {
  return textOf(doc['type']) === 'Collection' || docOf(doc['extent']) !== undefined;
}

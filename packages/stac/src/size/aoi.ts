import type { Doc } from '../json.js';
import type { Effort } from '../plane/effort.js';
import { overlap, readRegion, type Region } from '../plane/overlap.js';
import { readShape } from '../plane/shape.js';

export type FractionOf = (item: Doc) => number | undefined;

/** The share of each item's footprint inside an area; undefined where it cannot be told. */
export async function fractionsInside(
  area: Doc | undefined,
  items: readonly Doc[],
  effort: Effort,
): Promise<FractionOf> {
  const wanted = area && (await regionOf(area, effort));
  const measured = new Map<Doc, number | undefined>();
  for (const item of wanted ? items : []) {
    measured.set(item, await fraction(item, wanted!, effort));
  }
  return (item) => measured.get(item);
}

async function fraction(item: Doc, wanted: Region, effort: Effort): Promise<number | undefined> {
  const footprint = await regionOf(item['geometry'], effort);
  const inside = footprint && (await overlap(footprint, wanted, effort));
  return inside === undefined ? undefined : Math.max(0, Math.min(1, inside / footprint!.area));
}

async function regionOf(geometry: unknown, effort: Effort): Promise<Region | undefined> {
  const shape = readShape(geometry);
  return shape && shape.areas.length > 0 ? readRegion(shape.areas, effort) : undefined;
}

import { type Area, type Edges, edgesOf, type Effort, type Line, type Position, readShape } from './shape.js';
import type { Doc } from '../json.js';

/** An area, ready to be measured against others. */
interface Region {
  readonly edges: Edges;
  /** In units that are the same all over the world. */
  readonly area: number;
}

/** Overlaps and slivers that make up less of an area than this are not worth a refusal. */
const TOLERANCE = 0.01;

/**
 * Prepares polygons. Undefined where "inside" has no clear meaning, because rings cross or overlap,
 * or where finding that out would take too long.
 */
export async function readRegion(
  areas: readonly Area[],
  effort: Effort,
): Promise<Region | undefined> {
  const edges = edgesOf(areas.flatMap((rings) => rings.map(wound)));
  const area = areaUnder(edges);
  // Where each place is covered once, an area is as large as what it has in common with itself.
  const covered = await common(edges, edges, effort);
  if (covered === undefined || !(area > 0)) return undefined;
  return covered - area <= area * TOLERANCE ? { edges, area } : undefined;
}

/** What two regions have in common; undefined where finding out would take too long. */
export function overlap(one: Region, other: Region, effort: Effort): Promise<number | undefined> {
  return common(one.edges, other.edges, effort);
}

/** Outer rings one way round, holes the other, on a plane where equal areas are equally large. */
function wound(ring: Line, index: number): Line {
  const flat = ring.map(([lon, lat]): Position => [lon, Math.sin((lat * Math.PI) / 180)]);
  const isPositive = areaUnder(edgesOf([flat])) > 0;
  return isPositive === (index === 0) ? flat : flat.toReversed();
}

function areaUnder({ length, x1, y1, x2, y2 }: Edges): number {
  let sum = 0;
  for (let i = 0; i < length; i++) sum += ((x2[i]! - x1[i]!) * (y1[i]! + y2[i]! + 2)) / 2;
  return sum;
}

/**
 * The area of one inside the other: the sum, over all pairs of edges, of what lies below both, with
 * a sign for the way that they run. It needs no corners, orders or special cases, and takes as many
 * steps as there are pairs, whatever the shapes are like.
 */
async function common(one: Edges, other: Edges, effort: Effort): Promise<number | undefined> {
  if (!effort.take(one.length * other.length)) return undefined;
  let sum = 0;
  for (let i = 0; i < one.length; i++) {
    sum += below(one, i, other);
    const turn = effort.rest(other.length);
    if (turn) await turn;
  }
  return sum;
}

/** What lies below edge `i` and below the edges of the other, down to the south pole. */
function below(one: Edges, i: number, { length, x1, y1, x2, y2 }: Edges): number {
  const [ax, ay, bx, by] = [one.x1[i]!, one.y1[i]!, one.x2[i]!, one.y2[i]!];
  if (ax === bx) return 0;
  const [west, east] = ax < bx ? [ax, bx] : [bx, ax];
  const slope = (by - ay) / (bx - ax);
  let sum = 0;
  for (let j = 0; j < length; j++) {
    const [cx, dx] = [x1[j]!, x2[j]!];
    const from = Math.max(west, Math.min(cx, dx));
    const to = Math.min(east, Math.max(cx, dx));
    if (!(from < to)) continue;
    const incline = (y2[j]! - y1[j]!) / (dx - cx);
    // The heights of both above -1, the south pole, at both ends.
    const [p, q] = [ay + (from - ax) * slope + 1, ay + (to - ax) * slope + 1];
    const [r, s] = [y1[j]! + (from - cx) * incline + 1, y1[j]! + (to - cx) * incline + 1];
    const lower = lowerArea(to - from, p - r, q - s, r + s);
    sum += cx < dx ? lower : -lower;
  }
  return ax < bx ? sum : -sum;
}

/** Below two lines at once, given how far the one is above the other at both ends. */
function lowerArea(width: number, left: number, right: number, heights: number): number {
  const whole = (width * heights) / 2;
  if (left >= 0 && right >= 0) return whole;
  if (left <= 0 && right <= 0) return whole + (width * (left + right)) / 2;
  // They cross: only on one side is the one below the other.
  const under = Math.min(left, right);
  return whole + (width * under * under) / (2 * (under - Math.max(left, right)));
}

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

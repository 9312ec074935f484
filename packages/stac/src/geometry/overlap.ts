import type { JsonObject } from '@toolkeel/pack-kit';
import {
  edgesOf,
  parseShape,
  type Area,
  type Edges,
  type Line,
  type Position,
  type WorkBudget,
} from './shape.js';

/** An area, prepared for overlap computation. */
interface Region {
  readonly edges: Edges;
  /** In equal-area units. */
  readonly area: number;
}

/** The share of an area that overlapping rings and slivers may have. */
const TOLERANCE = 0.01;

/**
 * Prepares polygons. Undefined if rings cross or overlap, so that "inside" is ambiguous, or if the work
 * budget is exhausted.
 */
export async function prepareRegion(
  areas: readonly Area[],
  budget: WorkBudget,
): Promise<Region | undefined> {
  const edges = edgesOf(areas.flatMap((rings) => rings.map(windRing)));
  const area = areaUnder(edges);
  // If no point is covered twice, the overlap of an area with itself equals the area.
  const covered = await overlapOfEdges(edges, edges, budget);
  if (covered === undefined || !(area > 0)) return undefined;
  return covered - area <= area * TOLERANCE ? { edges, area } : undefined;
}

/** The area that two regions share; undefined if the work budget is exhausted. */
export function overlap(
  left: Region,
  right: Region,
  budget: WorkBudget,
): Promise<number | undefined> {
  return overlapOfEdges(left.edges, right.edges, budget);
}

/** Projects a ring to an equal-area plane and winds outer rings and holes in opposite directions. */
function windRing(ring: Line, index: number): Line {
  const toBox = ring.map(([lon, lat]): Position => [lon, Math.sin((lat * Math.PI) / 180)]);
  const isPositive = areaUnder(edgesOf([toBox])) > 0;
  return isPositive === (index === 0) ? toBox : toBox.toReversed();
}

function areaUnder({ length, x1, y1, x2, y2 }: Edges): number {
  let sum = 0;
  for (let i = 0; i < length; i++) sum += ((x2[i]! - x1[i]!) * (y1[i]! + y2[i]! + 2)) / 2;
  return sum;
}

/**
 * The sum of the signed areas below both edges over all pairs of edges. It needs no intersection
 * points or special cases, and its run time depends on the number of pairs only.
 */
async function overlapOfEdges(
  left: Edges,
  right: Edges,
  budget: WorkBudget,
): Promise<number | undefined> {
  if (!budget.take(left.length * right.length)) return undefined;
  let sum = 0;
  for (let i = 0; i < left.length; i++) {
    sum += below(left, i, right);
    const turn = budget.yieldAfter(right.length);
    if (turn) await turn;
  }
  return sum;
}

/** The area below edge `i` and below the other edges, down to the south pole. */
function below(left: Edges, i: number, { length, x1, y1, x2, y2 }: Edges): number {
  const [ax, ay, bx, by] = [left.x1[i]!, left.y1[i]!, left.x2[i]!, left.y2[i]!];
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
    // The heights of both edges above the south pole (-1) at both ends.
    const [p, q] = [ay + (from - ax) * slope + 1, ay + (to - ax) * slope + 1];
    const [r, s] = [y1[j]! + (from - cx) * incline + 1, y1[j]! + (to - cx) * incline + 1];
    const lower = lowerArea(to - from, p - r, q - s, r + s);
    sum += cx < dx ? lower : -lower;
  }
  return ax < bx ? sum : -sum;
}

/** The area below two lines, given the height of one above the other at both ends. */
function lowerArea(width: number, left: number, right: number, heights: number): number {
  const whole = (width * heights) / 2;
  if (left >= 0 && right >= 0) return whole;
  if (left <= 0 && right <= 0) return whole + (width * (left + right)) / 2;
  // The lines cross: one is below the other on one side only.
  const under = Math.min(left, right);
  return whole + (width * under * under) / (2 * (under - Math.max(left, right)));
}

export type FractionOf = (item: JsonObject) => number | undefined;

/** The share of each item's footprint inside an area; undefined if it cannot be computed. */
export async function fractionsInside(
  area: JsonObject | undefined,
  items: readonly JsonObject[],
  budget: WorkBudget,
): Promise<FractionOf> {
  const wanted = area && (await regionOf(area, budget));
  const measured = new Map<JsonObject, number | undefined>();
  for (const item of wanted ? items : []) {
    measured.set(item, await fraction(item, wanted!, budget));
  }
  return (item) => measured.get(item);
}

async function fraction(
  item: JsonObject,
  wanted: Region,
  budget: WorkBudget,
): Promise<number | undefined> {
  const footprint = await regionOf(item['geometry'], budget);
  const inside = footprint && (await overlap(footprint, wanted, budget));
  return inside === undefined ? undefined : Math.max(0, Math.min(1, inside / footprint!.area));
}

async function regionOf(geometry: unknown, budget: WorkBudget): Promise<Region | undefined> {
  const shape = parseShape(geometry);
  return shape && shape.areas.length > 0 ? prepareRegion(shape.areas, budget) : undefined;
}

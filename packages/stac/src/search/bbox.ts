import { numbersOf, type Doc } from '../json.js';

type Position = readonly [lon: number, lat: number];
/** West, south, east, north. West may be greater than east: then it crosses the antimeridian. */
export type Box = readonly [west: number, south: number, east: number, north: number];

/** What is wrong with a box of 4 or 6 numbers; undefined if nothing is. */
export function boxProblem(numbers: readonly number[]): string | undefined {
  const box = flat(numbers);
  if (!box) return 'must have 4 numbers (west, south, east, north) or 6 (with heights)';
  if (!box.every(Number.isFinite)) return 'must have finite numbers';
  const [west, south, east, north] = box;
  if (south > north) return 'has its south above its north: the order is west, south, east, north';
  if (south < -90 || north > 90) return 'has a latitude outside -90 to 90';
  if (west < -180 || west > 180 || east < -180 || east > 180) {
    return 'has a longitude outside -180 to 180; a box over the antimeridian has west > east';
  }
  return undefined;
}

/** Without heights. */
export function flat(numbers: readonly number[]): Box | undefined {
  const [a, b, c, d, e] = numbers as readonly [number, number, number, number, number];
  if (numbers.length === 4) return [a, b, c, d];
  return numbers.length === 6 ? [a, b, d, e] : undefined;
}

export function crossesAntimeridian([west, , east]: Box): boolean {
  return west > east;
}

/** One box, or the two on either side of the antimeridian. */
export function split(box: Box): readonly Box[] {
  const [west, south, east, north] = box;
  if (!crossesAntimeridian(box)) return [box];
  const halves: readonly Box[] = [
    [west, south, 180, north],
    [-180, south, east, north],
  ];
  // A box that begins on the antimeridian has no width on that side; one that is nothing but the
  // antimeridian has none on either, and is met from both.
  const wide = halves.filter(([from, , to]) => from < to);
  return wide.length > 0 ? wide : halves;
}

/** The same area as a geometry: understood alike by all servers, which a wrapped box is not. */
export function asGeometry(box: Box): Doc {
  const parts = split(box);
  if (crossesAntimeridian(box) && parts.every(([west, , east]) => west === east)) {
    const sides = parts.map(([x, south, , north]) => [
      [x, south],
      [x, north],
    ]);
    return { type: 'MultiLineString', coordinates: sides };
  }
  const rings = parts.map((one) => [ringOf(one)]);
  return rings.length === 1
    ? { type: 'Polygon', coordinates: rings[0] }
    : { type: 'MultiPolygon', coordinates: rings };
}

function ringOf([west, south, east, north]: Box): readonly Position[] {
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
}

/** Whether two boxes share a point, over the antimeridian too. */
export function boxesTouch(one: Box, other: Box): boolean {
  return split(one).some((a) =>
    split(other).some((b) => a[0] <= b[2] && b[0] <= a[2] && a[1] <= b[3] && b[1] <= a[3]),
  );
}

/** A bbox from outside, if it is one. */
export function boxOf(value: unknown): Box | undefined {
  const numbers = numbersOf(value);
  return numbers && flat(numbers);
}

/**
 * The smallest box around several. Longitudes lie on a circle, so the box is the circle without its
 * widest gap: scenes on both sides of the antimeridian do not make a box around the world.
 */
export function boxAround(boxes: readonly Box[]): Box | undefined {
  if (boxes.length === 0) return undefined;
  const south = boxes.reduce((least, box) => Math.min(least, box[1]), Infinity);
  const north = boxes.reduce((most, box) => Math.max(most, box[3]), -Infinity);
  const arcs = boxes
    .map(([west, , east]) => ({ from: west, to: west > east ? east + 360 : east }))
    .toSorted((a, b) => a.from - b.from);
  const first = arcs[0]!;
  const last = arcs.reduce((most, { to }) => Math.max(most, to), -Infinity);
  // What runs over the antimeridian covers the beginning of the circle as well.
  let reach = Math.max(first.to, last - 360);
  let gap = { width: 0, west: -180, east: 180 };
  for (const { from, to } of arcs.slice(1)) {
    if (from - reach > gap.width) gap = { width: from - reach, west: from, east: reach };
    reach = Math.max(reach, to);
  }
  const around = first.from + 360 - last;
  if (around > gap.width) return [first.from, south, wrap(last), north];
  return [gap.west, south, wrap(gap.east), north];
}

function wrap(longitude: number): number {
  return longitude > 180 ? longitude - 360 : longitude;
}

import { type Doc, docOf, docsOf, listOf, numberOf, numbersOf, textOf } from '../json.js';

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

type Geometry =
  | { readonly ok: true; readonly value: Doc }
  | { readonly ok: false; readonly problem: string };

/** How deep the coordinates of each type are nested. */
const depths: Readonly<Record<string, number>> = {
  Point: 0,
  MultiPoint: 1,
  LineString: 1,
  MultiLineString: 2,
  Polygon: 2,
  MultiPolygon: 3,
};

/** A geometry, or the one inside a Feature, a collection of one feature or of one geometry. */
export function readGeometry(given: Doc): Geometry {
  const type = textOf(given['type']);
  if (type === 'Feature') {
    const inner = docOf(given['geometry']);
    return inner ? readGeometry(inner) : problem('is a Feature without a geometry');
  }
  if (type === 'FeatureCollection' || type === 'GeometryCollection') {
    const members = docsOf(given[type === 'FeatureCollection' ? 'features' : 'geometries']);
    const [only] = members;
    if (only && members.length === 1) return readGeometry(only);
    return problem(`is a ${type} of ${members.length}: give one geometry, e.g. a MultiPolygon`);
  }
  const depth = type === undefined ? undefined : depths[type];
  if (type === undefined || depth === undefined) return problem('is not a GeoJSON geometry');
  const { coordinates } = given as { readonly coordinates?: unknown };
  if (!isNested(coordinates, depth)) return problem(`is a ${type} with wrong coordinates`);
  const rings = type === 'Polygon' ? [coordinates] : type === 'MultiPolygon' ? coordinates : [];
  if (!listOf(rings).flatMap(listOf).every(isRing)) {
    return problem('has a ring that is not closed or has fewer than 4 positions');
  }
  // Members that a strict server would refuse, such as `crs`, stay behind.
  return { ok: true, value: { type, coordinates } };
}

function problem(text: string): Geometry {
  return { ok: false, problem: text };
}

function isNested(value: unknown, depth: number): boolean {
  if (!Array.isArray(value) || value.length === 0) return false;
  return depth === 0 ? isPosition(value) : value.every((inner) => isNested(inner, depth - 1));
}

function isPosition(value: readonly unknown[]): boolean {
  const [lon, lat] = value.map(numberOf);
  if (lon === undefined || lat === undefined || value.length > 3) return false;
  return Math.abs(lon) <= 180 && Math.abs(lat) <= 90;
}

function isRing(value: unknown): boolean {
  const ring = listOf(value);
  const text = (position: unknown) => JSON.stringify(listOf(position).slice(0, 2));
  return ring.length >= 4 && text(ring[0]) === text(ring.at(-1));
}

/** The box around a geometry; undefined if it has no positions. */
export function boxOfGeometry(geometry: unknown): Box | undefined {
  const doc = docOf(geometry);
  if (!doc) return undefined;
  const parts =
    textOf(doc['type']) === 'MultiPolygon' ? listOf(doc['coordinates']) : [doc['coordinates']];
  return boxAround(parts.flatMap((part) => boxOfPositions(part) ?? []).map((box) => box));
}

function boxOfPositions(part: unknown): [Box] | undefined {
  const lons: number[] = [];
  const lats: number[] = [];
  const walk = (value: unknown): void => {
    if (!Array.isArray(value)) return;
    const [lon, lat] = value as readonly unknown[];
    if (typeof lon === 'number' && typeof lat === 'number') {
      lons.push(lon);
      lats.push(lat);
    } else value.forEach(walk);
  };
  walk(part);
  if (lons.length === 0) return undefined;
  const least = (values: number[]) => values.reduce((a, b) => Math.min(a, b));
  const most = (values: number[]) => values.reduce((a, b) => Math.max(a, b));
  return [[least(lons), least(lats), most(lons), most(lats)]];
}

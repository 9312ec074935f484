import {
  arrayOf,
  numberOf,
  numbersOf,
  objectOf,
  objectsOf,
  stringOf,
  type JsonObject,
} from '@toolkeel/pack-kit';

type Position = readonly [lon: number, lat: number];
/** If west is greater than east, the box crosses the antimeridian. */
export type Box = readonly [west: number, south: number, east: number, north: number];

/** The problem of a box of 4 or 6 numbers; undefined if it is valid. */
export function validateBox(numbers: readonly number[]): string | undefined {
  const box = toBox(numbers);
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

/** Drops heights. Undefined unless there are 4 or 6 numbers. */
export function toBox(numbers: readonly number[]): Box | undefined {
  const [a, b, c, d, e] = numbers as readonly [number, number, number, number, number];
  if (numbers.length === 4) return [a, b, c, d];
  return numbers.length === 6 ? [a, b, d, e] : undefined;
}

export function crossesAntimeridian([west, , east]: Box): boolean {
  return west > east;
}

/** The box itself, or its two parts on both sides of the antimeridian. */
export function splitAtAntimeridian(box: Box): readonly Box[] {
  const [west, south, east, north] = box;
  if (!crossesAntimeridian(box)) return [box];
  const halves: readonly Box[] = [
    [west, south, 180, north],
    [-180, south, east, north],
  ];
  // A box that starts on the antimeridian has no width on that side. The antimeridian itself has none on
  // either side and belongs to both.
  const wide = halves.filter(([from, , to]) => from < to);
  return wide.length > 0 ? wide : halves;
}

/** The box as a geometry. Servers interpret it consistently, unlike a box with west > east. */
export function boxToGeometry(box: Box): JsonObject {
  const parts = splitAtAntimeridian(box);
  if (crossesAntimeridian(box) && parts.every(([west, , east]) => west === east)) {
    const sides = parts.map(([x, south, , north]) => [
      [x, south],
      [x, north],
    ]);
    return { type: 'MultiLineString', coordinates: sides };
  }
  const rings = parts.map((part) => [ringOf(part)]);
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

/** Whether two boxes share a point, also across the antimeridian. */
export function boxesIntersect(one: Box, other: Box): boolean {
  return splitAtAntimeridian(one).some((a) =>
    splitAtAntimeridian(other).some(
      (b) => a[0] <= b[2] && b[0] <= a[2] && a[1] <= b[3] && b[1] <= a[3],
    ),
  );
}

/** Parses an untrusted bbox. */
export function boxOf(value: unknown): Box | undefined {
  const numbers = numbersOf(value);
  return numbers && toBox(numbers);
}

/**
 * The smallest box around several boxes: the circle of longitudes without its widest gap, so that scenes
 * on both sides of the antimeridian do not span the whole world.
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
  // A box across the antimeridian also covers the start of the circle.
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
  | { readonly ok: true; readonly value: JsonObject }
  | { readonly ok: false; readonly problem: string };

/** The nesting depth of the coordinates of each type. */
const depths: Readonly<Record<string, number>> = {
  Point: 0,
  MultiPoint: 1,
  LineString: 1,
  MultiLineString: 2,
  Polygon: 2,
  MultiPolygon: 3,
};

/** Parses a geometry, a Feature, or a collection with a single member. */
export function parseGeometry(given: JsonObject): Geometry {
  const type = stringOf(given['type']);
  if (type === 'Feature') {
    const inner = objectOf(given['geometry']);
    return inner ? parseGeometry(inner) : problem('is a Feature without a geometry');
  }
  if (type === 'FeatureCollection' || type === 'GeometryCollection') {
    const members = objectsOf(given[type === 'FeatureCollection' ? 'features' : 'geometries']);
    const [only] = members;
    if (only && members.length === 1) return parseGeometry(only);
    return problem(`is a ${type} of ${members.length}: give one geometry, e.g. a MultiPolygon`);
  }
  const depth = type === undefined ? undefined : depths[type];
  if (type === undefined || depth === undefined) return problem('is not a GeoJSON geometry');
  const { coordinates } = given as { readonly coordinates?: unknown };
  if (!isNested(coordinates, depth)) return problem(`is a ${type} with wrong coordinates`);
  const rings = type === 'Polygon' ? [coordinates] : type === 'MultiPolygon' ? coordinates : [];
  if (!arrayOf(rings).flatMap(arrayOf).every(isRing)) {
    return problem('has a ring that is not closed or has fewer than 4 positions');
  }
  // Drop members such as `crs`, which strict servers reject.
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
  const ring = arrayOf(value);
  const text = (position: unknown) => JSON.stringify(arrayOf(position).slice(0, 2));
  return ring.length >= 4 && text(ring[0]) === text(ring.at(-1));
}

/** The bounding box of a geometry; undefined if it has no positions. */
export function boxOfGeometry(geometry: unknown): Box | undefined {
  const doc = objectOf(geometry);
  if (!doc) return undefined;
  const parts =
    stringOf(doc['type']) === 'MultiPolygon' ? arrayOf(doc['coordinates']) : [doc['coordinates']];
  return boxAround(parts.flatMap((part) => boxOfPositions(part)));
}

function boxOfPositions(part: unknown): readonly Box[] {
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
  if (lons.length === 0) return [];
  const least = (values: number[]) => values.reduce((a, b) => Math.min(a, b));
  const most = (values: number[]) => values.reduce((a, b) => Math.max(a, b));
  return [[least(lons), least(lats), most(lons), most(lats)]];
}

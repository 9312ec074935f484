import { docOf, docsOf, listOf, numberOf, textOf, type Doc } from '../json.js';
import { boxAround, type Box } from './bbox.js';

export type Geometry =
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

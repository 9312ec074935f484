import { isObject } from '../../json.js';
import { badParameter } from '../api/http.js';
import { type Box, type Geometry, geometryOfBox, type Part, partsOf } from '../geo/geometry.js';

/** Parses a box of four or six numbers; heights are validated and ignored. */
export function boxOf(given: unknown): Box {
  if (!Array.isArray(given) || !given.every((value) => Number.isFinite(value)))
    throw badParameter('bbox', 'is not a list of numbers');
  const numbers = given as number[];
  if (numbers.length !== 4 && numbers.length !== 6)
    throw badParameter('bbox', 'has neither four nor six numbers');
  const half = numbers.length / 2;
  const [west = 0, south = 0, low = 0] = numbers;
  const [east = 0, north = 0, high = 0] = numbers.slice(half);
  if (Math.abs(west) > 180 || Math.abs(east) > 180)
    throw badParameter('bbox', 'has a longitude beyond 180 degrees');
  if (Math.abs(south) > 90 || Math.abs(north) > 90)
    throw badParameter('bbox', 'has a latitude beyond 90 degrees');
  if (south > north) throw badParameter('bbox', 'has its south above its north');
  if (half === 3 && low > high) throw badParameter('bbox', 'has its bottom above its top');
  return [west, south, east, north];
}

export function partsOfBox(given: unknown): Part[] {
  return partsOf(geometryOfBox(boxOf(given)));
}

const DEPTH: Readonly<Record<string, number>> = {
  Point: 0,
  MultiPoint: 1,
  LineString: 1,
  MultiLineString: 2,
  Polygon: 2,
  MultiPolygon: 3,
};

/** Parses a GeoJSON geometry; features are rejected. */
export function partsOfGeometry(given: unknown, name = 'intersects'): Part[] {
  return partsOf(geometryFrom(given, name, 0));
}

function geometryFrom(given: unknown, name: string, nesting: number): Geometry {
  if (!isObject(given) || typeof given['type'] !== 'string' || nesting > 3)
    throw badParameter(name, 'is not a GeoJSON geometry');
  const { type, coordinates, geometries } = given;
  if (type === 'GeometryCollection' && Array.isArray(geometries)) {
    const members = geometries.map((member) => geometryFrom(member, name, nesting + 1));
    return { type, geometries: members };
  }
  const depth = Object.hasOwn(DEPTH, type) ? DEPTH[type] : undefined;
  if (depth === undefined) throw badParameter(name, `"${type}" is not a type of geometry`);
  if (!isNested(coordinates, depth)) throw badParameter(name, 'has malformed coordinates');
  if (type.endsWith('Polygon')) {
    const polygons = (depth === 2 ? [coordinates] : coordinates) as number[][][][];
    if (!polygons.flat().every(isClosed)) throw badParameter(name, 'has a ring that is not closed');
  }
  return { type, coordinates } as Geometry;
}

function isNested(given: unknown, depth: number): boolean {
  if (!Array.isArray(given)) return false;
  if (depth > 0) return given.length > 0 && given.every((inner) => isNested(inner, depth - 1));
  const [lon, lat] = given as unknown[];
  return (
    given.length >= 2 &&
    given.every((value) => Number.isFinite(value)) &&
    Math.abs(Number(lon)) <= 180 &&
    Math.abs(Number(lat)) <= 90
  );
}

function isClosed(ring: readonly number[][]): boolean {
  return ring.length >= 4 && String(ring[0]) === String(ring.at(-1));
}

/** An interval in milliseconds, both ends inclusive; open ends are infinite. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

const RFC_3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** Parses an RFC 3339 date-time; returns undefined for a date alone, or the 30th of February. */
export function instantOf(text: string): number | undefined {
  const [, year, month, day] = RFC_3339.exec(text) ?? [];
  const ms = year === undefined ? NaN : Date.parse(text.replace(' ', 'T').toUpperCase());
  if (Number.isNaN(ms)) return undefined;
  const days = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  return Number(day) <= days ? ms : undefined;
}

/** Parses the `datetime` parameter: an instant, or an interval with at most one open end. */
export function spanOf(text: string, name = 'datetime'): Span {
  const ends = text.split('/');
  if (ends.length === 1) {
    const moment = endOf(text, name);
    return { from: moment, to: moment };
  }
  const [first = '', last = ''] = ends;
  const [openStart, openEnd] = [isOpen(first), isOpen(last)];
  if (ends.length > 2) throw badParameter(name, 'has more than two ends');
  if (openStart && openEnd) throw badParameter(name, 'is open at both ends');
  const from = openStart ? -Infinity : endOf(first, name);
  const to = openEnd ? Infinity : endOf(last, name);
  if (from > to) throw badParameter(name, 'ends before it begins');
  return { from, to };
}

function isOpen(end: string): boolean {
  return end === '' || end === '..';
}

function endOf(text: string, name: string): number {
  const ms = instantOf(text);
  if (ms === undefined) throw badParameter(name, `"${text}" is not a date and time of RFC 3339`);
  return ms;
}

export function overlap(one: Span, other: Span): boolean {
  return one.from <= other.to && other.from <= one.to;
}

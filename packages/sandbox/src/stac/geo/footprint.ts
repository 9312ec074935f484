import {
  type Box,
  boxAround,
  type Geometry,
  type Part,
  partsOf,
  type Point,
  type Ring,
} from './geometry.js';

export interface Footprint {
  readonly geometry: Geometry;
  readonly bbox: Box;
  /** The geometry's parts, for intersection tests. */
  readonly parts: readonly Part[];
}

const round = (value: number): number => Math.round(value * 1e6) / 1e6;

/**
 * The footprint of a convex ring with unwrapped longitudes. It is split at the antimeridian, as RFC 7946
 * requires, and its box then has west greater than east.
 */
export function footprintOf(ring: readonly Point[]): Footprint {
  const [west, south, east, north] = boxAround(ring);
  if (west >= 180 || east <= -180) return footprintOf(shifted(ring, west >= 180 ? -360 : 360));
  const seam = east > 180 ? 180 : west < -180 ? -180 : undefined;
  if (seam === undefined) {
    const coordinates = [closed(ring)];
    return footprint({ type: 'Polygon', coordinates }, [west, south, east, north]);
  }
  const below = clip(ring, { a: 1, b: 0, c: seam });
  const above = clip(ring, { a: -1, b: 0, c: -seam });
  const halves = seam === 180 ? [below, shifted(above, -360)] : [shifted(below, 360), above];
  const coordinates = halves.map((half) => [closed(half)]);
  const bbox: Box =
    seam === 180 ? [west, south, east - 360, north] : [west + 360, south, east, north];
  return footprint({ type: 'MultiPolygon', coordinates }, bbox);
}

/** The footprint of a box in degrees. */
export function boxFootprint(west: number, south: number, east: number, north: number): Footprint {
  return footprintOf(boxRing(west, south, east, north));
}

export function boxRing(west: number, south: number, east: number, north: number): Point[] {
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
  ];
}

function footprint(geometry: Geometry, [west, south, east, north]: Box): Footprint {
  const bbox: Box = [round(west), round(south), round(east), round(north)];
  return { geometry, bbox, parts: partsOf(geometry) };
}

function shifted(ring: readonly Point[], by: number): Point[] {
  return ring.map(([lon, lat]) => [lon + by, lat]);
}

/** Closes, rounds and orients a ring counter-clockwise. */
function closed(ring: readonly Point[]): Ring {
  const forward = areaOf(ring) < 0 ? ring.toReversed() : ring;
  const positions = forward.map(([lon, lat]): Point => [round(lon), round(lat)]);
  const [first] = positions;
  return first ? [...positions, first] : positions;
}

/** Adds positions to the edges, because straight UTM edges are curved at high latitudes. */
export function densify(ring: readonly Point[], steps: number): Point[] {
  return ring.flatMap(([x, y], at) => {
    const [toX, toY] = ring[(at + 1) % ring.length] ?? [x, y];
    return Array.from({ length: steps }, (_, step): Point => {
      const share = step / steps;
      return [x + share * (toX - x), y + share * (toY - y)];
    });
  });
}

/** The half-plane a·x + b·y <= c. */
interface HalfPlane {
  readonly a: number;
  readonly b: number;
  readonly c: number;
}

/** Clips a convex, open ring to a half-plane (Sutherland–Hodgman). */
export function clip(ring: readonly Point[], { a, b, c }: HalfPlane): Point[] {
  const over = ([x, y]: Point): number => a * x + b * y - c;
  return ring.flatMap((from, at) => {
    const to = ring[(at + 1) % ring.length] ?? from;
    const [before, after] = [over(from), over(to)];
    const kept: Point[] = before <= 0 ? [from] : [];
    if (before < 0 !== after < 0 && before !== 0 && after !== 0) {
      const share = before / (before - after);
      kept.push([from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1])]);
    }
    return kept;
  });
}

/** The signed area, positive for counter-clockwise rings (shoelace formula). */
export function areaOf(ring: readonly Point[]): number {
  return (
    ring.reduce((sum, [x, y], at) => {
      const [nextX, nextY] = ring[(at + 1) % ring.length] ?? [x, y];
      return sum + x * nextY - nextX * y;
    }, 0) / 2
  );
}

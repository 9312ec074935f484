/** Longitude, then latitude; a height is accepted and ignored. */
type Position = readonly number[];
export type Ring = readonly Position[];

export type Geometry =
  | { readonly type: 'Point'; readonly coordinates: Position }
  | { readonly type: 'MultiPoint' | 'LineString'; readonly coordinates: readonly Position[] }
  | { readonly type: 'MultiLineString' | 'Polygon'; readonly coordinates: readonly Ring[] }
  | { readonly type: 'MultiPolygon'; readonly coordinates: readonly (readonly Ring[])[] }
  | { readonly type: 'GeometryCollection'; readonly geometries: readonly Geometry[] };

/** West, south, east, north. West is greater than east across the antimeridian. */
export type Box = readonly [number, number, number, number];

/** Splits a box that crosses the antimeridian in two. */
export function boxesOf([west, south, east, north]: Box): Box[] {
  return west <= east
    ? [[west, south, east, north]]
    : [
        [west, south, 180, north],
        [-180, south, east, north],
      ];
}

/** A box as a geometry; one without width or height still intersects. */
export function geometryOfBox(box: Box): Geometry {
  const parts = boxesOf(box).map(([west, south, east, north]): Ring => [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]);
  return { type: 'MultiPolygon', coordinates: parts.map((ring) => [ring]) };
}

/** A point, a line, or a polygon with holes. */
export interface Part {
  readonly dimension: 0 | 1 | 2;
  readonly lines: readonly Ring[];
  readonly box: Box;
}

export function partsOf(geometry: Geometry): Part[] {
  switch (geometry.type) {
    case 'Point':
      return [part(0, [[geometry.coordinates]])];
    case 'MultiPoint':
      return geometry.coordinates.map((position) => part(0, [[position]]));
    case 'LineString':
      return [part(1, [geometry.coordinates])];
    case 'MultiLineString':
      return geometry.coordinates.map((line) => part(1, [line]));
    case 'Polygon':
      return [part(2, geometry.coordinates)];
    case 'MultiPolygon':
      return geometry.coordinates.map((rings) => part(2, rings));
    case 'GeometryCollection':
      return geometry.geometries.flatMap(partsOf);
  }
}

function part(dimension: Part['dimension'], lines: readonly Ring[]): Part {
  return { dimension, lines, box: boxAround(lines[0] ?? []) };
}

function boxAround(positions: readonly Position[]): Box {
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [x = 0, y = 0] of positions) {
    west = Math.min(west, x);
    east = Math.max(east, x);
    south = Math.min(south, y);
    north = Math.max(north, y);
  }
  return [west, south, east, north];
}

/** Whether two geometries share a point, on the plane of degrees, borders included. */
export function intersect(some: readonly Part[], others: readonly Part[]): boolean {
  return some.some((one) =>
    others.some((other) => boxesOverlap(one, other) && partsIntersect(one, other)),
  );
}

function boxesOverlap({ box: a }: Part, { box: b }: Part): boolean {
  return a[0] <= b[2] && b[0] <= a[2] && a[1] <= b[3] && b[1] <= a[3];
}

function partsIntersect(one: Part, other: Part): boolean {
  if (one.lines.some((line) => other.lines.some((path) => linesIntersect(line, path)))) return true;
  return liesIn(other, one) || liesIn(one, other);
}

/** If no borders cross, one vertex decides whether the whole part lies inside. */
function liesIn(inner: Part, area: Part): boolean {
  const vertex = inner.lines[0]?.[0];
  if (area.dimension !== 2 || !vertex) return false;
  const [shell, ...holes] = area.lines;
  return (
    shell !== undefined && inside(vertex, shell) && !holes.some((hole) => inside(vertex, hole))
  );
}

/** Ray casting to the east. Positions on the border are handled by `linesIntersect`. */
function inside([x = 0, y = 0]: Position, ring: Ring): boolean {
  let isInside = false;
  for (let at = 0; at + 1 < ring.length; at += 1) {
    const [ax = 0, ay = 0] = ring[at] ?? [];
    const [bx = 0, by = 0] = ring[at + 1] ?? [];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) isInside = !isInside;
  }
  return isInside;
}

function linesIntersect(one: Ring, other: Ring): boolean {
  for (let at = 0; at < Math.max(1, one.length - 1); at += 1)
    for (let to = 0; to < Math.max(1, other.length - 1); to += 1)
      if (segmentsIntersect(one[at], one[at + 1] ?? one[at], other[to], other[to + 1] ?? other[to]))
        return true;
  return false;
}

function segmentsIntersect(
  a: Position = [],
  b: Position = [],
  c: Position = [],
  d: Position = [],
): boolean {
  const [abc, abd, cda, cdb] = [side(a, b, c), side(a, b, d), side(c, d, a), side(c, d, b)];
  if (abc * abd < 0 && cda * cdb < 0) return true;
  return (
    (abc === 0 && between(a, b, c)) ||
    (abd === 0 && between(a, b, d)) ||
    (cda === 0 && between(c, d, a)) ||
    (cdb === 0 && between(c, d, b))
  );
}

/** The side of the line from a to b: -1, 0 or 1. */
function side(
  [ax = 0, ay = 0]: Position,
  [bx = 0, by = 0]: Position,
  [x = 0, y = 0]: Position,
): number {
  return Math.sign((bx - ax) * (y - ay) - (by - ay) * (x - ax));
}

function between([ax = 0, ay = 0]: Position, [bx = 0, by = 0]: Position, [x = 0, y = 0]: Position) {
  return (
    Math.min(ax, bx) <= x && x <= Math.max(ax, bx) && Math.min(ay, by) <= y && y <= Math.max(ay, by)
  );
}

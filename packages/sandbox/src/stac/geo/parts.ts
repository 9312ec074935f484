import type { Box, Geometry, Position, Ring } from './geometry.js';

/** A piece of a geometry that needs no further case distinction: a point, a path or an area with holes. */
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

export function boxAround(positions: readonly Position[]): Box {
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [x = 0, y = 0] of positions) {
    west = Math.min(west, x);
    east = Math.max(east, x);
    south = Math.min(south, y);
    north = Math.max(north, y);
  }
  return [west, south, east, north];
}

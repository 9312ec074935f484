import { booleanIntersects } from '@turf/boolean-intersects';
import fc from 'fast-check';
import { forward as mgrsOf } from 'mgrs';
import proj4 from 'proj4';
import { describe, expect, test } from 'vitest';
import { products } from '../catalogue/product.js';
import { footprintOf } from '../catalogue/scene.js';
import {
  type Box,
  boxesOf,
  type Geometry,
  geometryOfBox,
  intersect,
  partsOf,
  type Ring,
} from './geometry.js';

describe('a footprint', () => {
  const ring = (west: number, east: number): Ring => [
    [west, -1],
    [east, -1],
    [east, 1],
    [west, 1],
    [west, -1],
  ];

  test('of one ring is a polygon', () => {
    const { geometry, bbox } = footprintOf([ring(0, 1)]);
    expect([geometry.type, bbox]).toEqual(['Polygon', [0, -1, 1, 1]]);
  });

  test('of two rings crosses the antimeridian', () => {
    const { geometry, bbox, parts } = footprintOf([ring(179.5, 180), ring(-180, -179.5)]);
    expect([geometry.type, bbox]).toEqual(['MultiPolygon', [179.5, -1, -179.5, 1]]);
    expect(parts.map(({ box }) => box)).toEqual([
      [179.5, -1, 180, 1],
      [-180, -1, -179.5, 1],
    ]);
  });
});

describe('Sentinel-2 tiles', () => {
  const tiles = products
    .filter(({ id }) => id === 'sentinel-2-l2a')
    .flatMap(({ templates }) =>
      templates.flatMap(({ grid, properties }) =>
        grid ? [{ ...grid, name: (properties['grid:code'] as string).replace('MGRS-', '') }] : [],
      ),
    );

  test('are named after the MGRS squares that they cover', () => {
    const compared = tiles.flatMap(({ name, code, left, top }) => {
      const epsg = Number(code?.split(':')[1]);
      const system = `+proj=utm +zone=${epsg % 100} ${epsg >= 32_700 ? '+south' : ''} +datum=WGS84`;
      const [lon = 0, lat = 0] = proj4(system, 'WGS84', [left + 50_040, top - 50_040]);
      const theirs = mgrsOf([lon, lat], 0).replace(/^0/, '');
      // A tile east of its zone's border keeps its zone; the position alone gives the next one.
      return Number.parseInt(theirs, 10) === epsg % 100 ? [[name, theirs]] : [];
    });
    expect(compared.length).toBeGreaterThan(80);
    for (const [name, theirs] of compared) expect(name).toBe(theirs);
  });

  test('lie on the 60 m raster', () => {
    for (const { left, top } of tiles) expect([left % 60, top % 60]).toEqual([0, 0]);
    expect(tiles[0]).toMatchObject({ name: '31UDQ', left: 399_960, top: 5_500_020 });
  });
});

describe('intersection', () => {
  // Small integers make touching borders and shared corners common.
  const coordinate = fc.integer({ min: 0, max: 6 });
  const position = fc.tuple(coordinate, coordinate);
  const box = fc
    .tuple(coordinate, coordinate, fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 4 }))
    .map(([x, y, width, height]): Box => [x, y, x + width, y + height]);
  const ringOf = ([west, south, east, north]: Box): [number, number][] => [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
  const geometry: fc.Arbitrary<Geometry> = fc.oneof(
    position.map((coordinates): Geometry => ({ type: 'Point', coordinates })),
    fc
      .uniqueArray(position, { minLength: 2, maxLength: 4, selector: String })
      .map((coordinates): Geometry => ({ type: 'LineString', coordinates })),
    box.map((it): Geometry => ({ type: 'Polygon', coordinates: [ringOf(it)] })),
    fc
      .tuple(position, position, position)
      .filter(([a, b, c]) => (b[0] - a[0]) * (c[1] - a[1]) !== (c[0] - a[0]) * (b[1] - a[1]))
      .map(([a, b, c]): Geometry => ({ type: 'Polygon', coordinates: [[a, b, c, a]] })),
  );

  test('agrees with turf on points, lines and polygons', () => {
    fc.assert(
      fc.property(geometry, geometry, (one, other) => {
        const ours = intersect(partsOf(one), partsOf(other));
        expect(intersect(partsOf(other), partsOf(one))).toBe(ours);
        expect(ours).toBe(booleanIntersects(one as never, other as never));
      }),
      { numRuns: 1000 },
    );
  });

  test('respects holes', () => {
    const ring = (from: number, to: number) => ringOf([from, from, to, to]);
    const frame: Geometry = { type: 'Polygon', coordinates: [ring(0, 10), ring(2, 8)] };
    const meets = (other: Geometry) => intersect(partsOf(frame), partsOf(other));
    expect(meets({ type: 'Polygon', coordinates: [ring(3, 7)] })).toBe(false);
    expect(meets({ type: 'Point', coordinates: [5, 5] })).toBe(false);
    expect(meets({ type: 'Polygon', coordinates: [ring(2, 7)] })).toBe(true);
    expect(
      meets({
        type: 'MultiPoint',
        coordinates: [
          [5, 5],
          [1, 1],
        ],
      }),
    ).toBe(true);
    expect(
      meets({
        type: 'GeometryCollection',
        geometries: [
          {
            type: 'MultiLineString',
            coordinates: [
              [
                [4, 4],
                [9, 9],
              ],
            ],
          },
        ],
      }),
    ).toBe(true);
  });

  test('accepts boxes without width, and across the antimeridian', () => {
    const area = partsOf(geometryOfBox([170, -10, -170, 10]));
    expect(boxesOf([170, -10, -170, 10])).toHaveLength(2);
    const meets = (it: Box) => intersect(area, partsOf(geometryOfBox(it)));
    expect(meets([175, 0, 175, 0])).toBe(true);
    expect(meets([-175, -90, -175, 90])).toBe(true);
    expect(meets([0, -90, 0, 90])).toBe(false);
    expect(meets([-169, -5, 169, 5])).toBe(false);
    expect(meets([179, 9, -179, 11])).toBe(true);
  });
});

import { booleanIntersects } from '@turf/boolean-intersects';
import fc from 'fast-check';
import { forward as mgrsOf } from 'mgrs';
import proj4 from 'proj4';
import { describe, expect, test } from 'vitest';
import { areaOf, clip, footprintOf } from './footprint.js';
import {
  type Box,
  boxesOf,
  type Geometry,
  geometryOfBox,
  intersect,
  partsOf,
  type Ring,
} from './geometry.js';
import { fromUtm, sunElevation, toUtm, travel } from './projection.js';
import { sites } from '../catalogue/sites.js';

const lonLat = (north = 84) =>
  fc.tuple(
    fc.double({ min: -180, max: 179.999, noNaN: true }),
    fc.double({ min: -80, max: north, noNaN: true }),
  );

describe('UTM', () => {
  test('agrees with proj to a millimetre in both directions', () => {
    fc.assert(
      fc.property(lonLat(), (position) => {
        const zone = Math.floor((position[0] + 180) / 6) + 1;
        const utm = { zone, south: position[1] < 0 };
        const [x, y] = toUtm(position, utm);
        const system = `+proj=utm +zone=${utm.zone} ${utm.south ? '+south' : ''} +datum=WGS84`;
        const [theirX = 0, theirY = 0] = proj4('WGS84', system, [...position]);
        expect(Math.hypot(x - theirX, y - theirY)).toBeLessThan(0.001);
        const [lon, lat] = fromUtm([x, y], utm);
        expect(lon).toBeCloseTo(position[0], 8);
        expect(lat).toBeCloseTo(position[1], 8);
      }),
    );
  });

  test('does not wrap longitudes at the antimeridian', () => {
    const [lon] = fromUtm([900_000, 8_000_000], { zone: 60, south: true });
    expect(lon).toBeGreaterThan(180);
  });
});

describe('Sentinel-2 tiles', () => {
  const tiles = sites.flatMap((site) => site.tiles);

  test('are named after the MGRS squares that they cover', () => {
    const compared = tiles.flatMap((tile) => {
      const [lon, lat] = fromUtm([tile.left + 50_040, tile.top - 50_040], tile);
      const name = Math.abs(lon) < 180 ? mgrsOf([lon, lat], 0) : '';
      // A tile east of its zone's border keeps its zone; the position alone gives the next one.
      return Number.parseInt(name, 10) === tile.zone ? [[tile.name, name.replace(/^0/, '')]] : [];
    });
    expect(compared.length).toBeGreaterThan(40);
    for (const [name, theirs] of compared) expect(name).toBe(theirs);
  });

  test('contain their sites and lie on the 60 m raster', () => {
    for (const {
      place,
      tiles: [tile],
    } of sites) {
      const [x, y] = tile ? toUtm(place, tile) : [0, 0];
      expect(x - (tile?.left ?? 0)).toBeGreaterThanOrEqual(0);
      expect(x - (tile?.left ?? 0)).toBeLessThan(100_040);
      expect((tile?.top ?? 0) - y).toBeGreaterThanOrEqual(0);
      expect((tile?.top ?? 0) - y).toBeLessThan(100_040);
    }
    for (const { left, top } of tiles) expect([left % 60, top % 60]).toEqual([0, 0]);
    expect(tiles[0]).toMatchObject({ name: '31UDQ', left: 399_960, top: 5_500_020 });
  });
});

describe('Landsat frames', () => {
  test.for([
    ['199026', 1.9, 48.9],
    ['231062', -60.1, -2.9],
  ] as const)('%s lies where WRS-2 has it', ([name, lon, lat]) => {
    const { centre } = sites.find(({ frame }) => frame.name === name)?.frame ?? { centre: [0, 0] };
    expect(Math.abs(centre[0] - lon)).toBeLessThan(0.7);
    expect(Math.abs(centre[1] - lat)).toBeLessThan(0.4);
  });

  test('lie close to their sites and head southwards, drifting to the west', () => {
    for (const { place, frame } of sites) {
      expect(Math.abs(frame.centre[1] - place[1])).toBeLessThan(2);
      expect(frame.heading).toBeGreaterThan(180);
      expect(frame.heading).toBeLessThan(270);
    }
  });
});

describe('a footprint', () => {
  test('stays one polygon, counter-clockwise, away from the antimeridian', () => {
    const { geometry, bbox } = footprintOf([
      [0, 0],
      [0, 1],
      [1, 1],
      [1, 0],
    ]);
    expect(bbox).toEqual([0, 0, 1, 1]);
    expect(geometry.type).toBe('Polygon');
    const ring = (geometry as { coordinates: Ring[] } & Geometry).coordinates[0] ?? [];
    expect(ring[0]).toEqual(ring.at(-1));
    expect(areaOf(ring.slice(0, -1).map(([x = 0, y = 0]) => [x, y] as const))).toBe(1);
  });

  test.for([
    [179.5, 180.5],
    [-180.5, -179.5],
  ] as const)('is split at the antimeridian, from %d to %d', ([west, east]) => {
    const { geometry, bbox } = footprintOf([
      [west, -1],
      [east, -1],
      [east, 1],
      [west, 1],
    ]);
    expect(bbox).toEqual([179.5, -1, -179.5, 1]);
    const boxes = partsOf(geometry).map(({ box }) => box);
    expect(boxes).toEqual(
      expect.arrayContaining([
        [179.5, -1, 180, 1],
        [-180, -1, -179.5, 1],
      ]),
    );
  });
});

test('a footprint beyond the antimeridian is wrapped', () => {
  const { geometry, bbox } = footprintOf([
    [180, 0],
    [181, 0],
    [181, 1],
    [180, 1],
  ]);
  expect([geometry.type, bbox]).toEqual(['Polygon', [-180, 0, -179, 1]]);
});

describe('clipping', () => {
  test('splits an area into two that add up', () => {
    const square: [number, number][] = [
      [0, 0],
      [4, 0],
      [4, 4],
      [0, 4],
    ];
    fc.assert(
      fc.property(
        fc.integer({ min: -3, max: 3 }),
        fc.integer({ min: -3, max: 3 }),
        fc.integer({ min: -9, max: 9 }),
        (a, b, c) => {
          fc.pre(a !== 0 || b !== 0);
          const kept = areaOf(clip(square, { a, b, c }));
          const rest = areaOf(clip(square, { a: -a, b: -b, c: -c }));
          expect(kept + rest).toBeCloseTo(16, 6);
        },
      ),
    );
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
      .filter((corners) => areaOf(corners) !== 0)
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

test('great circles and the elevation of the sun', () => {
  const [lon, lat] = travel([10, 0], 0, 111_195);
  expect([lon, lat]).toEqual([expect.closeTo(10, 6), expect.closeTo(1, 3)]);
  expect(sunElevation([0, 0], Date.UTC(2024, 2, 20, 12, 7))).toBeGreaterThan(86);
  expect(sunElevation([0, 85], Date.UTC(2024, 11, 21, 12))).toBeLessThan(0);
});

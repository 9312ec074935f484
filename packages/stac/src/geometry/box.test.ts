import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  boxAround,
  boxesIntersect,
  boxOfGeometry,
  boxToGeometry,
  parseGeometry,
  splitAtAntimeridian,
  toBox,
  validateBox,
  type Box,
} from './box.js';

const lon = fc.integer({ min: -180, max: 180 });
const lat = fc.integer({ min: -90, max: 90 });
const box: fc.Arbitrary<Box> = fc
  .tuple(lon, lat, lon, lat)
  .map(([west, a, east, b]) => [west, Math.min(a, b), east, Math.max(a, b)]);

const contains = (whole: Box, [x, y]: readonly [number, number]): boolean =>
  splitAtAntimeridian(whole).some(([w, s, e, n]) => x >= w && x <= e && y >= s && y <= n);

describe('bounding boxes', () => {
  it('accepts 4 and 6 numbers, points, and west > east', () => {
    for (const good of [
      [10, 45, 11, 46],
      [10, 45, 0, 11, 46, 100],
      [10, 45, 10, 45],
      [160.6, -55.95, -170, -25.89],
      [-180, -90, 180, 90],
    ])
      expect(validateBox(good)).toBeUndefined();
    expect(toBox([10, 45, 0, 11, 46, 100])).toEqual([10, 45, 11, 46]);
  });

  it.each([
    [[10, 45, 11]],
    [[10, 45, 0, 11, 46]],
    [[10, 46, 11, 45]],
    [[10, -91, 11, 45]],
    [[181, 0, 182, 1]],
    [[10, 45, Number.NaN, 46]],
  ])('rejects %j', (bad) => {
    expect(validateBox(bad)).toBeTypeOf('string');
  });

  it('splits only boxes that cross the antimeridian', () => {
    expect(splitAtAntimeridian([170, -10, -170, 10])).toEqual([
      [170, -10, 180, 10],
      [-180, -10, -170, 10],
    ]);
    expect(splitAtAntimeridian([180, 0, -170, 1])).toEqual([[-180, 0, -170, 1]]);
    expect(splitAtAntimeridian([170, 0, -180, 1])).toEqual([[170, 0, 180, 1]]);
    expect(boxToGeometry([170, -10, -170, 10])).toMatchObject({ type: 'MultiPolygon' });
    expect(boxToGeometry([10, 45, 11, 46])).toMatchObject({ type: 'Polygon' });
    fc.assert(
      fc.property(box, (one) => {
        for (const [west, , east] of splitAtAntimeridian(one))
          expect(west).toBeLessThanOrEqual(east);
        expect(splitAtAntimeridian(one).length).toBeGreaterThan(0);
      }),
    );
  });

  it('treats the antimeridian as part of both sides', () => {
    const line: Box = [180, -90, -180, 90];
    expect(boxesIntersect(line, [179, 0, 180, 1])).toBe(true);
    expect(boxesIntersect(line, [-180, 0, -179, 1])).toBe(true);
    expect(boxesIntersect(line, [0, 0, 1, 1])).toBe(false);
    const north = [
      [180, -90],
      [180, 90],
    ];
    const other = [
      [-180, -90],
      [-180, 90],
    ];
    expect(boxToGeometry(line)).toEqual({ type: 'MultiLineString', coordinates: [north, other] });
  });

  it('computes intersections symmetrically', () => {
    expect(boxesIntersect([170, 0, -170, 1], [-175, 0, -174, 1])).toBe(true);
    expect(boxesIntersect([170, 0, -170, 1], [0, 0, 1, 1])).toBe(false);
    fc.assert(
      fc.property(box, box, (a, b) => {
        expect(boxesIntersect(a, b)).toBe(boxesIntersect(b, a));
        expect(boxesIntersect(a, a)).toBe(true);
      }),
    );
  });

  it('computes the smallest box around several, also across the antimeridian', () => {
    expect(
      boxAround([
        [178, -18, 179, -17],
        [-179, -18, -178, -17],
      ]),
    ).toEqual([178, -18, -178, -17]);
    expect(
      boxAround([
        [170, 0, -170, 1],
        [-180, 0, -175, 1],
      ]),
    ).toEqual([170, 0, -170, 1]);
    expect(
      boxAround([
        [10, 45, 11, 46],
        [12, 44, 13, 45],
      ]),
    ).toEqual([10, 44, 13, 46]);
    expect(boxAround([])).toBeUndefined();
  });

  it('covers all corners of all boxes', () => {
    fc.assert(
      fc.property(fc.array(box, { minLength: 1, maxLength: 6 }), (boxes) => {
        const around = boxAround(boxes)!;
        for (const [west, south, east, north] of boxes) {
          for (const corner of [
            [west, south],
            [east, north],
          ] as const) {
            const [x, y] = corner;
            const same =
              contains(around, corner) ||
              contains(around, [x === 180 ? -180 : x === -180 ? 180 : x, y]);
            expect({ around, corner, same }).toMatchObject({ same: true });
          }
        }
      }),
    );
  });
});

const polygon = {
  type: 'Polygon',
  coordinates: [
    [
      [0, 0],
      [1, 0],
      [1, 1],
      [0, 0],
    ],
  ],
};

describe('geometries', () => {
  it('extracts the geometry of a Feature and of collections with one member', () => {
    const feature = { type: 'Feature', properties: {}, geometry: { ...polygon, crs: 'x' } };
    for (const given of [
      polygon,
      feature,
      { type: 'FeatureCollection', features: [feature] },
      { type: 'GeometryCollection', geometries: [polygon] },
    ])
      expect(parseGeometry(given)).toEqual({ ok: true, value: polygon });
  });

  it.each([
    [{ type: 'Circle' }],
    [{ type: 'Point' }],
    [{ type: 'Point', coordinates: [200, 0] }],
    [{ type: 'Point', coordinates: ['1', 2] }],
    [
      {
        type: 'Polygon',
        coordinates: [
          [
            [0, 0],
            [1, 0],
            [1, 1],
          ],
        ],
      },
    ],
    [
      {
        type: 'Polygon',
        coordinates: [
          [
            [0, 0],
            [1, 0],
            [1, 1],
            [2, 2],
          ],
        ],
      },
    ],
    [{ type: 'Feature', geometry: null }],
    [{ type: 'FeatureCollection', features: [polygon, polygon] }],
    [{}],
  ])('rejects %j', (given) => {
    expect(parseGeometry(given)).toMatchObject({ ok: false });
  });

  it('accepts any JSON without throwing', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.constantFrom('Polygon', 'Feature', 'Point', 'MultiPolygon'),
        (more, type) => {
          expect(typeof parseGeometry({ ...more, type }).ok).toBe('boolean');
          boxOfGeometry({ ...more, type });
        },
      ),
    );
  });

  it('computes a box, across the antimeridian for two parts', () => {
    expect(boxOfGeometry(polygon)).toEqual([0, 0, 1, 1]);
    const half = (west: number, east: number) => [
      [
        [west, 0],
        [east, 0],
        [east, 1],
        [west, 0],
      ],
    ];
    expect(
      boxOfGeometry({ type: 'MultiPolygon', coordinates: [half(179, 180), half(-180, -179)] }),
    ).toEqual([179, 0, -179, 1]);
    expect(boxOfGeometry(null)).toBeUndefined();
  });
});

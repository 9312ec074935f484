import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boxOfGeometry, readGeometry } from './geometry.js';

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
  it('takes a geometry out of a Feature and out of collections of one', () => {
    const feature = { type: 'Feature', properties: {}, geometry: { ...polygon, crs: 'x' } };
    for (const given of [
      polygon,
      feature,
      { type: 'FeatureCollection', features: [feature] },
      { type: 'GeometryCollection', geometries: [polygon] },
    ])
      expect(readGeometry(given)).toEqual({ ok: true, value: polygon });
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
  ])('refuses %j', (given) => {
    expect(readGeometry(given)).toMatchObject({ ok: false });
  });

  it('survives any JSON', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.constantFrom('Polygon', 'Feature', 'Point', 'MultiPolygon'),
        (more, type) => {
          expect(typeof readGeometry({ ...more, type }).ok).toBe('boolean');
          boxOfGeometry({ ...more, type });
        },
      ),
    );
  });

  it('draws a box, over the antimeridian for two halves', () => {
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

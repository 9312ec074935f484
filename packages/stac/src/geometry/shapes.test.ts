import { area as areaOf } from '@turf/area';
import { booleanIntersects } from '@turf/boolean-intersects';
import { intersect } from '@turf/intersect';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shapesIntersect } from './intersects.js';
import { overlap, prepareRegion } from './overlap.js';
import { createWorkBudget, parseShape, type Position } from './shape.js';

const polygon = (...rings: readonly (readonly Position[])[]) => ({
  type: 'Polygon' as const,
  coordinates: rings.map((ring) => ring.map(([x, y]) => [x, y])),
});

const box = (west: number, south: number, east: number, north: number) =>
  polygon([
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]);

/** A ring with nearly the maximum number of self-intersections. */
function star(corners: number): readonly Position[] {
  const ring = Array.from({ length: corners }, (_, index): Position => {
    const angle = (index * 2.399963) % (2 * Math.PI);
    const distance = index % 2 ? 0.45 : 0.05;
    return [0.5 + distance * Math.cos(angle * 7), 0.5 + distance * Math.sin(angle * 7)];
  });
  return [...ring, ring[0]!];
}

/** A ring around a centre without self-intersections. */
const simplePolygon = (size: number) =>
  fc
    .tuple(
      fc.tuple(fc.integer({ min: 0, max: 8 }), fc.integer({ min: 0, max: 8 })),
      fc.array(fc.integer({ min: 5, max: 60 }), { minLength: 3, maxLength: 12 }),
    )
    .map(([[x, y], distances]) => {
      const ring = distances.map((distance, index): Position => {
        const angle = ((index + distance / 200) / distances.length) * 2 * Math.PI;
        const [across, up] = [(distance / 10) * Math.cos(angle), (distance / 20) * Math.sin(angle)];
        return [(x + across) * size, 40 + (y + up) * size];
      });
      return polygon([...ring, ring[0]!]);
    });

type Polygon = ReturnType<typeof polygon>;

const budget = (steps?: number) => createWorkBudget(new AbortController().signal, steps);
const regionOf = (geometry: unknown, steps?: number) =>
  prepareRegion(parseShape(geometry)!.areas, budget(steps));
const shareOf = async (one: unknown, other: unknown) => {
  const [a, b] = [await regionOf(one), await regionOf(other)];
  return a && b && (await overlap(a, b, budget()))! / a.area;
};
const feature = (geometry: Polygon) => ({ type: 'Feature' as const, properties: {}, geometry });

describe('overlap', () => {
  it('agrees with turf for areas of scene size', async () => {
    const scene = simplePolygon(0.2);
    await fc.assert(
      fc.asyncProperty(scene, scene, async (one, other) => {
        const both = intersect({
          type: 'FeatureCollection',
          features: [feature(one), feature(other)],
        });
        const expected = both ? areaOf(both) / areaOf(feature(one)) : 0;
        expect(await shareOf(one, other)).toBeCloseTo(expected, 2);
      }),
      { numRuns: 300 },
    );
  });

  it('excludes holes of either winding', async () => {
    const hole: Position[] = [
      [0, 0],
      [2, 0],
      [2, 1],
      [0, 1],
      [0, 0],
    ];
    const outer = box(0, 0, 4, 1).coordinates[0] as unknown as Position[];
    for (const inner of [hole, hole.toReversed()]) {
      expect(await shareOf(box(0, 0, 4, 1), polygon(outer, inner))).toBeCloseTo(0.5, 6);
      expect(await shareOf(polygon(outer, inner), box(0, 0, 3, 1))).toBeCloseTo(0.5, 6);
    }
  });

  it('adds up over the parts of a multipolygon', async () => {
    const parts = [box(0, 0, 1, 1), box(2, 0, 3, 1)].map(({ coordinates }) => coordinates);
    const both = { type: 'MultiPolygon', coordinates: parts };
    expect(await shareOf(both, box(0, 0, 2, 1))).toBeCloseTo(0.5, 6);
  });

  it.each([
    ['crosses itself', polygon(star(20))],
    [
      'overlaps itself',
      {
        type: 'MultiPolygon',
        coordinates: [box(0, 0, 2, 1).coordinates, box(1, 0, 3, 1).coordinates],
      },
    ],
    [
      'has a hole outside',
      polygon(box(0, 0, 1, 1).coordinates[0] as never, box(2, 0, 3, 1).coordinates[0] as never),
    ],
    [
      'has no width',
      polygon([
        [0, 0],
        [1, 1],
        [0, 0],
        [0, 0],
      ]),
    ],
  ])('is undefined for a shape that %s', async (_, geometry) => {
    expect(await regionOf(geometry)).toBeUndefined();
  });

  it('is undefined if the work budget is exhausted', async () => {
    expect(await regionOf(box(0, 0, 1, 1), 16)).toBeDefined();
    expect(await regionOf(box(0, 0, 1, 1), 15)).toBeUndefined();
  });

  it('stops when the call is cancelled', async () => {
    const leaving = new AbortController();
    const ring = Array.from({ length: 1000 }, (_, index): Position => {
      const angle = (index / 1000) * 2 * Math.PI;
      return [Math.cos(angle), Math.sin(angle)];
    });
    const areas = parseShape(polygon([...ring, ring[0]!]))!.areas;
    const reading = prepareRegion(areas, createWorkBudget(leaving.signal));
    leaving.abort(new Error('gone'));
    await expect(reading).rejects.toThrow('gone');
  });
});

type Geometry = Parameters<typeof booleanIntersects>[0];

const position = fc.tuple(fc.integer({ min: -2, max: 10 }), fc.integer({ min: 38, max: 50 }));
/** Without repeated positions, because turf does not support edges of length 0. */
const positions = fc.uniqueArray(position, { minLength: 2, maxLength: 5, selector: String });
const geometry = fc.oneof(
  simplePolygon(1),
  fc.tuple(fc.constantFrom('MultiPoint', 'LineString'), positions).map(toGeometry),
  fc.tuple(fc.constant('Point'), position).map(toGeometry),
  fc.tuple(fc.constant('MultiLineString'), fc.array(positions, { minLength: 1 })).map(toGeometry),
  fc
    .array(simplePolygon(1), { minLength: 1, maxLength: 3 })
    .map((parts) => ['MultiPolygon', parts.map(({ coordinates }) => coordinates)] as const)
    .map(toGeometry),
);

function toGeometry([type, coordinates]: readonly [string, unknown]) {
  return { type, coordinates };
}

const shapesTouch = (one: unknown, other: unknown, steps?: number) =>
  shapesIntersect(
    parseShape(one)!,
    parseShape(other)!,
    createWorkBudget(new AbortController().signal, steps),
  );

describe('shapesIntersect', () => {
  it('agrees with turf', async () => {
    await fc.assert(
      fc.asyncProperty(geometry, geometry, async (one, other) => {
        const expected = booleanIntersects(one as Geometry, other as Geometry);
        expect(await shapesTouch(one, other)).toBe(expected);
        expect(await shapesTouch(other, one)).toBe(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('handles shared corners, shared sides, containment and holes', async () => {
    const big = box(0, 0, 10, 10);
    const ring = polygon(big.coordinates[0] as never, box(1, 1, 9, 9).coordinates[0] as never);
    expect(await shapesTouch(big, box(10, 10, 11, 11))).toBe(true);
    expect(await shapesTouch(big, box(10, 2, 11, 3))).toBe(true);
    expect(await shapesTouch(big, box(4, 4, 5, 5))).toBe(true);
    expect(await shapesTouch(ring, box(4, 4, 5, 5))).toBe(false);
    expect(await shapesTouch(ring, { type: 'Point', coordinates: [0.5, 5] })).toBe(true);
  });

  it('is undefined if the work budget is exhausted', async () => {
    expect(await shapesTouch(box(0, 0, 1, 1), box(2, 2, 3, 3), 10)).toBeUndefined();
  });
});

describe('parseShape', () => {
  it('parses or rejects any JSON', () => {
    const type = fc.constantFrom('Point', 'Polygon', 'MultiPolygon', 'LineString', 'constructor');
    fc.assert(
      fc.property(type, fc.jsonValue(), (name, coordinates) => {
        const shape = parseShape({ type: name, coordinates });
        expect(shape === undefined || shape.lines.flat().flat().every(Number.isFinite)).toBe(true);
      }),
    );
  });
});

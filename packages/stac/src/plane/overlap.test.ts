import { area as areaOf } from '@turf/area';
import { intersect } from '@turf/intersect';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEffort } from './effort.js';
import { overlap, readRegion } from './overlap.js';
import { readShape, type Position } from './shape.js';
import { box, polygon, simplePolygon, star } from './shapes.fixture.js';

type Polygon = ReturnType<typeof polygon>;

const effort = (steps?: number) => createEffort(new AbortController().signal, steps);
const regionOf = (geometry: unknown, steps?: number) =>
  readRegion(readShape(geometry)!.areas, effort(steps));
const shareOf = async (one: unknown, other: unknown) => {
  const [a, b] = [await regionOf(one), await regionOf(other)];
  return a && b && (await overlap(a, b, effort()))! / a.area;
};
const feature = (geometry: Polygon) => ({ type: 'Feature' as const, properties: {}, geometry });

describe('the part of a shape inside another', () => {
  it('is what another implementation says, for areas as large as scenes', async () => {
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

  it('does not count holes, whichever way they run', async () => {
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

  it('adds up over the parts of a shape', async () => {
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
  ])('has no meaning for one that %s', async (_, geometry) => {
    expect(await regionOf(geometry)).toBeUndefined();
  });

  it('is not sought beyond the effort that is left', async () => {
    expect(await regionOf(box(0, 0, 1, 1), 16)).toBeDefined();
    expect(await regionOf(box(0, 0, 1, 1), 15)).toBeUndefined();
  });

  it('ends when the caller has gone', async () => {
    const leaving = new AbortController();
    const ring = Array.from({ length: 1000 }, (_, index): Position => {
      const angle = (index / 1000) * 2 * Math.PI;
      return [Math.cos(angle), Math.sin(angle)];
    });
    const areas = readShape(polygon([...ring, ring[0]!]))!.areas;
    const reading = readRegion(areas, createEffort(leaving.signal));
    leaving.abort(new Error('gone'));
    await expect(reading).rejects.toThrow('gone');
  });
});

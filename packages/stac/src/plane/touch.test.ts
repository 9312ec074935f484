import { booleanIntersects } from '@turf/boolean-intersects';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEffort } from './effort.js';
import { readShape } from './shape.js';
import { box, polygon, simplePolygon } from './shapes.fixture.js';
import { touch } from './touch.js';

type Geometry = Parameters<typeof booleanIntersects>[0];

const position = fc.tuple(fc.integer({ min: -2, max: 10 }), fc.integer({ min: 38, max: 50 }));
/** Without repetition: the other implementation stumbles over edges without length. */
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
  touch(readShape(one)!, readShape(other)!, createEffort(new AbortController().signal, steps));

describe('two shapes', () => {
  it('touch where another implementation says so', async () => {
    await fc.assert(
      fc.asyncProperty(geometry, geometry, async (one, other) => {
        const expected = booleanIntersects(one as Geometry, other as Geometry);
        expect(await shapesTouch(one, other)).toBe(expected);
        expect(await shapesTouch(other, one)).toBe(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('touch at a corner, along a side, and one inside of the other, but not inside of a hole', async () => {
    const big = box(0, 0, 10, 10);
    const ring = polygon(big.coordinates[0] as never, box(1, 1, 9, 9).coordinates[0] as never);
    expect(await shapesTouch(big, box(10, 10, 11, 11))).toBe(true);
    expect(await shapesTouch(big, box(10, 2, 11, 3))).toBe(true);
    expect(await shapesTouch(big, box(4, 4, 5, 5))).toBe(true);
    expect(await shapesTouch(ring, box(4, 4, 5, 5))).toBe(false);
    expect(await shapesTouch(ring, { type: 'Point', coordinates: [0.5, 5] })).toBe(true);
  });

  it('are not compared beyond the effort that is left', async () => {
    expect(await shapesTouch(box(0, 0, 1, 1), box(2, 2, 3, 3), 10)).toBeUndefined();
  });
});

describe('a geometry from outside', () => {
  it('is read or refused, whatever it is', () => {
    const type = fc.constantFrom('Point', 'Polygon', 'MultiPolygon', 'LineString', 'constructor');
    fc.assert(
      fc.property(type, fc.jsonValue(), (name, coordinates) => {
        const shape = readShape({ type: name, coordinates });
        expect(shape === undefined || shape.lines.flat().flat().every(Number.isFinite)).toBe(true);
      }),
    );
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Doc } from '../json.js';
import { createEffort } from '../plane/effort.js';
import { fractionsInside } from './aoi.js';
import { estimateAssets, totalOf, type AssetFacts } from './estimate.js';
import { knownSize } from './known-size.js';
import { rawSize } from './raw-size.js';

describe('sizes from metadata', () => {
  it('are read from file:size first, and nothing is no size', () => {
    expect(knownSize({ 'file:size': 10, size: 20 })).toBe(10);
    expect(knownSize({ 'file:size': 0, content_length: 20 })).toBe(20);
    for (const asset of [
      {},
      { 'file:size': 0 },
      { 'file:size': -1 },
      { 'file:size': '10' },
      { size: Number.NaN },
    ])
      expect(knownSize(asset)).toBeUndefined();
  });

  const item = { properties: { 'proj:shape': [100, 200] } };

  it.each([
    [{ 'raster:bands': [{ data_type: 'uint16' }] }, 40_000],
    [
      {
        'proj:shape': [10, 10],
        'raster:bands': [{ data_type: 'uint8' }, { data_type: 'float32' }],
      },
      500,
    ],
    [
      {
        bands: [
          { name: 'r', data_type: 'int16' },
          { name: 'g', data_type: 'int16' },
        ],
      },
      80_000,
    ],
    [{ data_type: 'float64', bands: [{ name: 'r' }] }, 160_000],
    [{ 'proj:shape': [10, 10], data_type: 'uint8' }, 100],
    [{ 'raster:bands': [{ data_type: 'other' }] }, undefined],
    [{ 'proj:shape': [10, 10], data_type: 'valueOf' }, undefined], // what every object has is no type
    [{ 'raster:bands': [{ data_type: 'uint8' }, {}] }, undefined],
    [{ 'proj:shape': [0, 10], data_type: 'uint8' }, undefined],
    [{ 'proj:shape': [10, 10] }, undefined],
    [{ type: 'application/xml' }, undefined],
  ])('come from shape and bands: %j', (asset, size) => {
    expect(rawSize(asset, item)).toBe(size);
  });

  it('survive any JSON', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom('proj:shape', 'raster:bands', 'bands', 'data_type', 'file:size'),
          fc.jsonValue(),
        ),
        (asset) => {
          for (const size of [rawSize(asset, item), knownSize(asset)])
            expect(size === undefined || size > 0).toBe(true);
        },
      ),
    );
  });
});

const size = fc.option(fc.integer({ min: 1, max: 1e9 }), { nil: undefined });
const facts: fc.Arbitrary<AssetFacts> = fc.record({
  group: fc.constantFrom('red', 'nir', 'xml'),
  known: size,
  head: size,
  raw: size,
  fraction: fc.double({ min: 0, max: 1, noNaN: true }),
});

describe('estimates', () => {
  it('lie inside their band, and are absent exactly where nothing is known', () => {
    fc.assert(
      fc.property(fc.array(facts), (assets) => {
        const sizes = estimateAssets(assets);
        expect(sizes).toHaveLength(assets.length);
        for (const { method, bytes, low, high } of sizes) {
          if (method === 'unknown')
            expect([bytes, low, high]).toEqual([undefined, undefined, undefined]);
          else {
            expect(low).toBeLessThanOrEqual(bytes! * (1 + 1e-9));
            expect(bytes).toBeLessThanOrEqual(high! * (1 + 1e-9));
            expect(bytes).toBeGreaterThan(0);
          }
        }
        const whole = totalOf(sizes, false);
        const inside = totalOf(sizes, true);
        expect(whole === undefined).toBe(sizes.every(({ method }) => method === 'unknown'));
        if (whole && inside) expect(inside.bytes).toBeLessThanOrEqual(whole.bytes);
      }),
    );
  });

  it('are exact where all sizes are known', () => {
    const assets = [1, 2, 3].map((known) => ({ group: 'a', fraction: 1, known, raw: 100 }));
    expect(totalOf(estimateAssets(assets), false)).toEqual({ bytes: 6, low: 6, high: 6 });
  });

  it('learn from the answer itself how well its files compress', () => {
    const known = [30, 32, 34].map((bytes) => ({
      group: 'a',
      fraction: 1,
      known: bytes,
      raw: 100,
    }));
    const [, , , guess] = estimateAssets([...known, { group: 'b', fraction: 1, raw: 1000 }]);
    expect(guess).toMatchObject({ method: 'proj_shape', bytes: 320 });
    expect(guess!.low).toBeLessThan(300);
    expect(guess!.high).toBeGreaterThan(340);
  });

  it('take the same band of another scene for a measure, with room for error', () => {
    const [, guess, unknown] = estimateAssets([
      { group: 'red', fraction: 1, head: 100 },
      { group: 'red', fraction: 1 },
      { group: 'xml', fraction: 1 },
    ]);
    expect(guess).toMatchObject({ method: 'inferred', bytes: 100, low: 50, high: 200 });
    expect(unknown).toMatchObject({ method: 'unknown' });
  });
});

describe('the part inside an area', () => {
  const square = (west: number, east: number) => ({
    type: 'Polygon',
    coordinates: [
      [
        [west, 0],
        [east, 0],
        [east, 1],
        [west, 1],
        [west, 0],
      ],
    ],
  });

  const fractions = async (area: Doc | undefined, geometries: readonly unknown[]) => {
    const items = geometries.map((geometry) => ({ geometry }));
    const effort = createEffort(new AbortController().signal);
    return items.map(await fractionsInside(area, items, effort));
  };

  it('is measured', async () => {
    const [half, all, none] = await fractions(square(0, 1), [
      square(0, 2),
      square(0, 1),
      square(5, 6),
    ]);
    expect(half).toBeCloseTo(0.5);
    expect(all).toBeCloseTo(1);
    expect(none).toBe(0);
  });

  it('is not known without a footprint or an area', async () => {
    const unclear = [
      null,
      { type: 'Point', coordinates: [0, 0] },
      { type: 'Polygon', coordinates: 'x' },
    ];
    expect(await fractions(square(0, 1), unclear)).toEqual([undefined, undefined, undefined]);
    expect(await fractions(undefined, [square(0, 1)])).toEqual([undefined]);
  });
});

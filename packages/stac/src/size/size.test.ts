import type { JsonObject } from '@toolkeel/pack-kit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fractionsInside } from '../geometry/overlap.js';
import { createWorkBudget } from '../geometry/shape.js';
import { estimateAssets, extrapolate, totalOf, type AssetFacts } from './estimate.js';
import { headSample } from './heads.js';
import { metadataSize, uncompressedSize } from './metadata.js';

describe('sizes from metadata', () => {
  it('come from file:size first; 0 is not a size', () => {
    expect(metadataSize({ 'file:size': 10, size: 20 })).toBe(10);
    expect(metadataSize({ 'file:size': 0, content_length: 20 })).toBe(20);
    for (const asset of [
      {},
      { 'file:size': 0 },
      { 'file:size': -1 },
      { 'file:size': '10' },
      { size: Number.NaN },
    ])
      expect(metadataSize(asset)).toBeUndefined();
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
  ])('are computed from shape and bands: %j', (asset, size) => {
    expect(uncompressedSize(asset, item)?.bytes).toBe(size);
  });

  it.each([
    ['sentinel-2-l2a', 'B02', { type: 'image/tiff' }, 200],
    ['Sentinel-2-L2A', 'SCL', {}, 100],
    ['sentinel-2-l2a', 'visual', { 'eo:bands': [{}, {}, {}] }, 300],
    ['sentinel-2-l2a', 'metadata', { type: 'application/xml' }, undefined],
    ['sentinel-2-l2a', 'constructor', {}, 200],
    ['unlisted', 'B02', {}, undefined],
  ])('use the data type of the sensor registry: %s %s', (collection, key, asset, size) => {
    const shaped = { 'proj:shape': [10, 10], ...asset };
    expect(uncompressedSize(shaped, { collection }, key)?.bytes).toBe(size);
    // The shape of the item does not apply to an asset without a data type.
    const main = { collection, properties: { 'proj:shape': [10, 10] } };
    expect(uncompressedSize(asset, main, key)).toBeUndefined();
  });

  it.each([
    [{ 's2:nodata_pixel_percentage': 75 }, 25],
    [{ 's2:nodata_pixel_percentage': 100 }, 1],
    [{ 'sentinel:data_coverage': 40 }, 40],
    [{ 's2:nodata_pixel_percentage': -5 }, 100],
    [{ 's2:nodata_pixel_percentage': '75' }, 100],
  ])('count only pixels with data: %j', (properties, size) => {
    const asset = { 'proj:shape': [10, 10], data_type: 'uint8' };
    expect(uncompressedSize(asset, { properties })?.bytes).toBe(size);
  });

  it('accept any JSON without throwing', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom('proj:shape', 'raster:bands', 'bands', 'data_type', 'file:size'),
          fc.jsonValue(),
        ),
        (asset) => {
          for (const size of [uncompressedSize(asset, item)?.bytes, metadataSize(asset)])
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
  it('lie inside their range, and are absent only if nothing is known', () => {
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

  it('are exact if all sizes are known', () => {
    const assets = [1, 2, 3].map((known) => ({ group: 'a', fraction: 1, known, raw: 100 }));
    expect(totalOf(estimateAssets(assets), false)).toEqual({ bytes: 6, low: 6, high: 6 });
  });

  it('use the measured compression ratio of their own group only', () => {
    const known = [30, 32, 34].map((bytes) => ({
      group: 'a',
      fraction: 1,
      known: bytes,
      raw: 100,
    }));
    const [, , , same, other] = estimateAssets([
      ...known,
      { group: 'a', fraction: 1, raw: 1e6 },
      { group: 'b', fraction: 1, raw: 1e6 },
    ]);
    expect(same).toMatchObject({ method: 'proj_shape', bytes: 320_000 });
    expect(same!.low).toBeLessThan(300_000);
    expect(same!.high).toBeGreaterThan(340_000);
    expect(other).toMatchObject({ method: 'proj_shape', bytes: 600_000, low: 100 });
  });

  it('have a narrower range with more measured files', () => {
    const width = (samples: number) => {
      const measured = Array.from({ length: samples }, () => ({
        group: 'a',
        fraction: 1,
        head: 500,
      }));
      const { low, high } = estimateAssets([...measured, { group: 'a', fraction: 1 }]).at(-1)!;
      return high! / low!;
    };
    expect(width(1)).toBeGreaterThan(width(4));
    expect(width(4)).toBeGreaterThan(width(40));
  });

  it('do not exceed an uncompressed file with overviews, unless measured files do', () => {
    const [, guess] = estimateAssets([
      { group: 'a', fraction: 1, head: 0.9e9, raw: 1e9 },
      { group: 'a', fraction: 1, raw: 1e9 },
    ]);
    expect(guess!.high).toBeCloseTo(1.4e9 + 65_536);
    const [, beyond] = estimateAssets([
      { group: 'a', fraction: 1, head: 4e9, raw: 1e9 },
      { group: 'a', fraction: 1, raw: 1e9 },
    ]);
    expect(beyond!.high).toBeGreaterThan(4e9);
  });

  it('use the size of the same asset in another scene, with a wide range', () => {
    const [, guess, unknown] = estimateAssets([
      { group: 'red', fraction: 1, head: 1000 },
      { group: 'red', fraction: 1 },
      { group: 'xml', fraction: 1 },
    ]);
    expect(guess).toMatchObject({ method: 'inferred', bytes: 1000 });
    expect(guess!.low).toBeLessThan(10);
    expect(guess!.high).toBeGreaterThan(20_000);
    expect(unknown).toMatchObject({ method: 'unknown' });
  });

  it('extrapolate to all matching items with the extremes of the estimated ones', () => {
    const items = [
      { bytes: 100, low: 50, high: 150 },
      { bytes: 300, low: 200, high: 900 },
    ];
    expect(extrapolate(items, 10)).toEqual({ bytes: 2000, low: 650, high: 8250 });
    expect(extrapolate(items, 2)).toEqual({ bytes: 400, low: 250, high: 1050 });
    expect(extrapolate(items, 1)).toBeUndefined();
    expect(extrapolate(items, Number.MAX_SAFE_INTEGER)).toBeUndefined();
  });
});

describe('headSample', () => {
  const files = (group: string, count: number, raw?: number) =>
    Array.from({ length: count }, (_, index) => ({ href: `${group}${index}`, group, raw }));
  const ofClass = (hrefs: readonly string[], group: string) =>
    hrefs.flatMap((href) => (href.startsWith(group) ? Number(href.slice(group.length)) : []));

  it('covers groups and items', () => {
    const all = ['a', 'b', 'c', 'd'].flatMap((group) => files(group, 40, 1000));
    const asked = headSample(all, 16);
    for (const group of ['a', 'b', 'c', 'd']) {
      const items = ofClass(asked, group);
      expect(items).toHaveLength(4);
      expect(Math.max(...items) - Math.min(...items)).toBeGreaterThanOrEqual(20);
      // Not always the same tile if tiles alternate.
      for (const period of [2, 3, 4, 5])
        expect(new Set(items.map((place) => place % period)).size).toBeGreaterThan(1);
    }
    const items = new Set(asked.map((href) => href.slice(1)));
    expect(items.size).toBeGreaterThanOrEqual(12);
  });

  it('starts with groups without pixel counts, then large ones', () => {
    const all = [...files('small', 2, 10), ...files('large', 2, 1000), ...files('text', 2)];
    expect(headSample(all, 3).map((href) => href.slice(0, -1))).toEqual(['text', 'large', 'small']);
  });

  it('contains every file once if there are few', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({ group: fc.constantFrom('a', 'b', 'c'), href: fc.string(), raw: size }),
        ),
        fc.integer({ min: 1, max: 60 }),
        (all, max) => {
          const asked = headSample(all, max);
          const distinct = new Set(all.map(({ href }) => href));
          expect(new Set(asked).size).toBe(asked.length);
          expect(asked.length).toBe(Math.min(max, distinct.size));
        },
      ),
    );
  });
});

describe('fractionsInside', () => {
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

  const fractions = async (area: JsonObject | undefined, geometries: readonly unknown[]) => {
    const items = geometries.map((geometry) => ({ geometry }));
    const budget = createWorkBudget(new AbortController().signal);
    return items.map(await fractionsInside(area, items, budget));
  };

  it('computes the share of the footprint', async () => {
    const [half, all, none] = await fractions(square(0, 1), [
      square(0, 2),
      square(0, 1),
      square(5, 6),
    ]);
    expect(half).toBeCloseTo(0.5);
    expect(all).toBeCloseTo(1);
    expect(none).toBe(0);
  });

  it('is undefined without a footprint or an area', async () => {
    const unclear = [
      null,
      { type: 'Point', coordinates: [0, 0] },
      { type: 'Polygon', coordinates: 'x' },
    ];
    expect(await fractions(square(0, 1), unclear)).toEqual([undefined, undefined, undefined]);
    expect(await fractions(undefined, [square(0, 1)])).toEqual([undefined]);
  });
});

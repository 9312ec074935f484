/** Numbers that a result cannot contain are dropped without failing the rest. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { api, classes, item } from './support/api.js';
import { useHarness } from './support/rig.js';

const { setup, serve, createRig } = useHarness();

const strange = [1e300, 1e308, 2 ** 53, 1.5, -1, -0, '1e999', '7', null, [], {}];
/** JSON literals, including one beyond the range of numbers. */
const written = (value: unknown) => (value === '1e999' ? '1e999' : JSON.stringify(value));

describe('a malformed number', () => {
  it.each(strange.map((count) => [count]))(
    'is not reported as the number of matches: %j',
    async (count) => {
      const body = `{"type":"FeatureCollection","features":[${JSON.stringify(item('a'))}],"links":[],"numberMatched":${written(count)}}`;
      const { rig } = await setup(
        api({ before: ({ path }) => (path === '/search' ? { text: body } : undefined) }),
      );
      const matched = Object.is(count, -0) ? 0 : null;
      for (const tool of ['search_items', 'estimate_data_size'])
        expect(await rig.data(tool)).toMatchObject({ matched });
      expect(await rig.data('summarize_search')).toMatchObject({ sampled: 1 });
      expect(await rig.data('get_aggregations')).toMatchObject({ sampled: 1 });
    },
  );

  it('does not fail other catalogues', async () => {
    const good = await serve(api());
    const bad = await serve(
      api({
        before: ({ path }) =>
          path === '/search'
            ? { json: { type: 'FeatureCollection', features: [item('x')], numberMatched: 1e300 } }
            : undefined,
      }),
    );
    const catalogs = { good: { url: good.origin }, bad: { url: bad.origin } };
    const rig = await createRig({ catalogs });
    expect(await rig.data('search_federated')).toMatchObject({
      items: [{ id: 'a' }, { id: 'b' }, { id: 'x' }],
      catalogs: [
        { ok: true, matched: 2 },
        { ok: true, matched: null },
      ],
    });
  });

  it.each([
    ['file:size', { 'file:size': 1e308 }],
    ['proj:shape', { 'proj:shape': [1e200, 1e200], data_type: 'uint8' }],
    ['proj:shape', { 'proj:shape': [2 ** 40, 2 ** 40], data_type: 'float64' }],
  ])('is not a size: %s', async (_, facts) => {
    const odd = { href: 's3://bucket/x', ...facts };
    const assets = { odd, odder: odd, red: { href: 's3://bucket/y', 'file:size': 1000 } };
    const { rig } = await setup(api({ items: [item('a', { assets })] }));
    expect(await rig.data('estimate_data_size')).toMatchObject({
      estimated_size_bytes: 1000,
      coverage: { unknown: { assets: 2 } },
    });
  });

  it('is not the count of a bucket', async () => {
    const buckets = [
      { key: 'a', frequency: 1e300 },
      { key: 'b', frequency: 3 },
    ];
    const aggregations = [{ name: 'collection_frequency', buckets, overflow: 1e300 }];
    const { rig } = await setup(
      api({
        conformsTo: [classes.core, classes.search, classes.aggregation],
        before: ({ path }) => (path === '/aggregate' ? { json: { aggregations } } : undefined),
      }),
    );
    const { aggregations: read } = await rig.data('get_aggregations', {
      aggregations: ['collection_frequency'],
    });
    expect(read).toEqual([{ name: 'collection_frequency', buckets: [{ key: 'b', frequency: 3 }] }]);
  });

  it('may occur anywhere in a response', async () => {
    const number = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom(...strange, 9e15, 1e21, 5e-324),
    );
    let current: unknown = 0;
    const one = () =>
      item('a', {
        bbox: [current, current, 1, 1],
        geometry: {
          type: 'Polygon',
          coordinates: [
            [
              [current, 1],
              [2, current],
              [1, 1],
            ],
          ],
        },
        properties: { datetime: current, 'eo:cloud_cover': current, 'proj:shape': [current, 9] },
        assets: {
          a: { href: 's3://b/a', 'file:size': current, 'proj:shape': [9, current] },
          b: { href: 's3://b/b', 'proj:shape': [current, current], data_type: 'int8' },
          c: { href: 's3://b/c', 'file:size': 7, 'proj:shape': [1, 1], data_type: 'int8' },
        },
      });
    const { rig } = await setup(
      api({
        before: ({ path }) =>
          path === '/search'
            ? {
                json: {
                  features: [one(), one()],
                  numberMatched: current,
                  context: { matched: current },
                },
              }
            : undefined,
      }),
    );
    const calls: [string, object][] = [
      ['search_items', { output_format: 'json' }],
      ['search_federated', {}],
      ['estimate_data_size', { bbox: [0, 0, 2, 2], force_metadata_only: true }],
      ['summarize_search', {}],
      ['get_aggregations', {}],
    ];
    await fc.assert(
      fc.asyncProperty(number, async (value) => {
        current = value;
        for (const [tool, args] of calls)
          expect({ tool, code: await rig.code(tool, args) }).toEqual({ tool, code: 'success' });
      }),
      { numRuns: 40 },
    );
  });
});

describe('a deeply nested item', () => {
  it('does not fail the page', async () => {
    const deep = '['.repeat(5000) + ']'.repeat(5000);
    const bad = JSON.stringify(item('bad', { properties: { x: 'HERE' } })).replace('"HERE"', deep);
    const text = `{"type":"FeatureCollection","features":[${bad},${JSON.stringify(item('good'))}]}`;
    const { rig } = await setup(
      api({ before: ({ path }) => (path === '/search' ? { text } : undefined) }),
    );
    expect(await rig.data('search_items', { output_format: 'json' })).toMatchObject({
      items: [{ id: 'bad' }, { id: 'good', properties: { platform: 'sat-1' } }],
    });
  });
});

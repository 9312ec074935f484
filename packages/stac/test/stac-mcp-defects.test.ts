/**
 * Regression tests for the defects of stac-mcp 6.5.0 and earlier, one for each.
 */
import { runTool } from '@toolkeel/contract';
import { describe, expect, it } from 'vitest';
import { api, classes, collection, item, page } from './support/api.js';
import { useHarness } from './support/rig.js';

const { setup, serve } = useHarness();

describe('defects of stac-mcp', () => {
  it('B1: an estimate of real items with file:size was 0 bytes', async () => {
    const { rig } = await setup(
      api({
        items: [
          item('a', { assets: { x: { href: 'https://f.example/x', 'file:size': 123_456 } } }),
        ],
      }),
    );
    expect(await rig.data('estimate_data_size', { collections: ['scenes'] })).toMatchObject({
      estimated_size_bytes: 123_456,
      item_count: 1,
      asset_count: 1,
    });
  });

  it('B1: an estimate without any known size was 0 bytes', async () => {
    const { rig } = await setup(
      api({ items: [item('a', { assets: { x: { href: 's3://bucket/x' } } })] }),
    );
    expect(await rig.data('estimate_data_size')).toMatchObject({
      estimated_size_bytes: null,
      estimated_size_mb: null,
      low_bytes: null,
      coverage: { unknown: { assets: 1, share: 1 } },
    });
  });

  it('B2: text mode crashed as soon as assets were analysed', async () => {
    const { rig } = await setup(api());
    for (const output_format of ['text', 'json'])
      expect(await rig.data('estimate_data_size', { output_format })).toMatchObject({
        estimated_size_bytes: 2000,
        by_asset: [{ asset: 'red', bytes: 2000 }],
      });
  });

  it('B3: queryables of several collections were requested under the joined name', async () => {
    const schema = {
      type: 'object',
      properties: { 'eo:cloud_cover': { type: 'number', minimum: 0 } },
      additionalProperties: false,
    };
    const { rig, server } = await setup(
      api({ before: ({ path }) => (path.endsWith('/queryables') ? { json: schema } : undefined) }),
    );
    const data = await rig.data('get_queryables', { collection_id: ['scenes', 'maps'] });
    expect(
      server.requests
        .map(({ path }) => path)
        .slice(1)
        .toSorted(),
    ).toEqual(['/collections/maps/queryables', '/collections/scenes/queryables']);
    expect(data).toMatchObject({
      properties: [
        { name: 'eo:cloud_cover', type: 'number', minimum: 0, collections: ['scenes', 'maps'] },
      ],
      additional_properties: false,
    });
    expect(await rig.data('get_queryables', { collection_id: 'scenes' })).toMatchObject({
      collections: ['scenes'],
    });
  });

  it('B4: aggregations were rejected by servers that support them, or posted to /search without names', async () => {
    const aggregations = [
      { name: 'total_count', data_type: 'integer', value: 42 },
      { name: 'collection_frequency', buckets: [{ key: 'scenes', frequency: 42 }], overflow: 0 },
    ];
    const { rig, server } = await setup(
      api({
        conformsTo: [classes.core, classes.search, classes.aggregation],
        extraLinks: (origin) => [
          { rel: 'aggregate', href: `${origin}/aggregate` },
          { rel: 'aggregations', href: `${origin}/aggregations` },
        ],
        before: ({ path }) => {
          if (path === '/aggregations')
            return { json: { aggregations: aggregations.map(({ name }) => ({ name })) } };
          return path === '/aggregate'
            ? { json: { type: 'AggregationCollection', aggregations } }
            : undefined;
        },
      }),
    );
    expect(await rig.data('get_aggregations', { collections: ['scenes'] })).toMatchObject({
      method: 'server',
      complete: true,
      available: ['total_count', 'collection_frequency'],
      aggregations: [
        { name: 'total_count', value: 42 },
        { buckets: [{ key: 'scenes', frequency: 42 }] },
      ],
    });
    const asked = server.requests.find(({ path }) => path === '/aggregate');
    expect(asked?.params.get('aggregations')).toBe('total_count,collection_frequency');
    expect(asked?.params.get('collections')).toBe('scenes');
    expect(server.requests.some(({ path }) => path === '/search')).toBe(false);
  });

  it('B4: without /aggregate there was an error instead of a count', async () => {
    const { rig } = await setup(api());
    expect(await rig.data('get_aggregations', {})).toMatchObject({
      method: 'sample',
      complete: true,
      sampled: 2,
    });
  });

  it('B5: a search never showed the dates of its items', async () => {
    const { rig } = await setup(api());
    expect(await rig.data('search_items')).toMatchObject({
      items: [{ datetime: '2024-06-01T10:00:00Z' }, {}],
    });
  });

  it('B6: two searches with different sort orders got the same cached result', async () => {
    const { rig, server } = await setup(api({ post: true, conformsTo: Object.values(classes) }));
    await rig.data('search_items', { sortby: '-properties.datetime' });
    await rig.data('search_items', { sortby: '+properties.datetime' });
    expect(
      server.requests.filter(({ path }) => path === '/search').map(({ json }) => json['sortby']),
    ).toEqual([
      [{ field: 'properties.datetime', direction: 'desc' }],
      [{ field: 'properties.datetime', direction: 'asc' }],
    ]);
  });

  it('B7: no timeout applied to root, collections, items and searches', async () => {
    const { rig } = await setup(() => ({ act: 'stall' }), { toolTimeoutSecs: 0.5 });
    const calls = [
      rig.code('get_root'),
      rig.code('search_collections'),
      rig.code('search_items'),
      rig.code('get_item', { collection_id: 'a', item_id: 'b' }),
    ];
    expect(await Promise.all(calls)).toEqual(['timeout', 'timeout', 'timeout', 'timeout']);
  });

  it('B8: connection errors were retried five times, Retry-After was unbounded, POST searches were not retried', async () => {
    const { rig, server } = await setup(
      api({
        post: true,
        before: ({ path }) => (path === '/search' ? { act: 'reset' } : undefined),
      }),
    );
    expect(await rig.code('search_items')).toBe('upstream_unavailable');
    expect(
      server.requests.filter(({ path, method }) => path === '/search' && method === 'POST'),
    ).toHaveLength(3);
    const limited = await setup(() => ({
      status: 503,
      json: {},
      headers: { 'retry-after': '3600' },
    }));
    expect(await limited.rig.code('get_root')).toBe('upstream_unavailable');
    expect(limited.server.requests).toHaveLength(1);
  });

  it('B9: errors were classified by class name substrings', async () => {
    const { rig } = await setup(
      api({
        before: ({ path }) =>
          path === '/search'
            ? {
                status: 400,
                json: { description: 'Timeout and NotFound and Network are only words' },
              }
            : undefined,
      }),
    );
    expect(await rig.run('search_items')).toMatchObject({
      error: { code: 'upstream_rejected', retryable: false, details: { status: 400 } },
    });
  });

  it('B10: the test server needed missing data', async () => {
    const server = await serve(api({ items: [item('made-here')] }));
    expect(server.origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it('B11: the second page was unreachable, and has_more was a guess', async () => {
    const { rig } = await setup(
      api({
        before: ({ path, params }) => {
          if (path !== '/search') return undefined;
          return params.has('token')
            ? page([item('c')])
            : page([item('a'), item('b')], [{ rel: 'next', href: './search?token=x' }]);
        },
      }),
    );
    const first = await rig.run('search_items', { limit: 2 });
    expect(first.meta.pagination).toMatchObject({ has_more: true, result_count: 2 });
    const second = await rig.run('search_items', {
      limit: 2,
      page_token: first.meta.pagination?.next_token,
    });
    expect(second).toMatchObject({
      data: { items: [{ id: 'c' }] },
      meta: { pagination: { has_more: false } },
    });
    const full = await setup(api());
    expect((await full.rig.run('search_items', { limit: 2 })).meta.pagination).toMatchObject({
      has_more: false,
    });
  });

  it('B12: signing silently did nothing', async () => {
    const { rig } = await setup(api());
    expect(
      await rig.run('get_item', { collection_id: 'scenes', item_id: 'a', sign_assets: true }),
    ).toMatchObject({
      error: { code: 'unsupported_by_upstream', details: { capability: 'sign_assets' } },
    });
    expect(await rig.code('search_items', { sign_assets: true })).toBe('unsupported_by_upstream');
  });

  it('B13: capabilities were requested at non-standard URLs', async () => {
    const { rig } = await setup(
      api({
        conformsTo: Object.values(classes).map((uri) => uri.replace('v1.0.0/', 'v1.0.0-rc.2/')),
        extraLinks: (origin) => [
          {
            rel: 'http://www.opengis.net/def/rel/ogc/1.0/queryables',
            href: `${origin}/queryables`,
          },
        ],
      }),
    );
    expect(await rig.data('get_catalog_capabilities')).toMatchObject({
      supports: {
        queryables: true,
        aggregation: true,
        query: true,
        sort: true,
        fields: true,
        filter: true,
        cql2_text: true,
        cql2_json: true,
        collection_search: true,
        collection_free_text: true,
      },
    });
  });

  it('a missing item or collection was a success without data', async () => {
    const { rig } = await setup(api());
    expect(await rig.run('get_item', { collection_id: 'scenes', item_id: 'none' })).toMatchObject({
      error: { code: 'not_found', retryable: false, details: { resource: 'item', id: 'none' } },
    });
    expect(await rig.code('get_collection', { collection_id: 'none' })).toBe('not_found');
  });

  it('force_metadata_only still sent HEAD requests', async () => {
    const { rig, server } = await setup(
      api({
        before: ({ path, origin }) =>
          path === '/search'
            ? page([item('a', { assets: { x: { href: `${origin}/x` } } })])
            : undefined,
      }),
    );
    await rig.data('estimate_data_size', { force_metadata_only: true });
    expect(server.requests.filter(({ method }) => method === 'HEAD')).toEqual([]);
  });

  it('an area of interest was echoed but not used', async () => {
    const { rig, server } = await setup(api({ items: [item('a')], post: true }));
    const aoi_geojson = {
      type: 'Polygon',
      coordinates: [
        [
          [10, 45],
          [10.5, 45],
          [10.5, 46],
          [10, 46],
          [10, 45],
        ],
      ],
    };
    const data = await rig.data('estimate_data_size', { aoi_geojson });
    expect(data).toMatchObject({ estimated_size_bytes: 1000, aoi: { clipped_size_bytes: 500 } });
    expect(server.requests.at(-1)?.json['intersects']).toEqual(aoi_geojson);
  });

  it('a search for collections could not search', async () => {
    const collections = [
      collection('landsat-c2'),
      collection('sentinel-2-l2a', { keywords: ['optical'] }),
      collection('dem'),
    ];
    const { rig } = await setup(api({ collections }));
    const found = async (q: string) =>
      ((await rig.data('search_collections', { q }))['collections'] as { id: string }[]).map(
        ({ id }) => id,
      );
    expect(await found('sentinel')).toEqual(['sentinel-2-l2a']);
    expect(await found('optical, dem')).toEqual(['dem', 'sentinel-2-l2a']);
    expect(await found('nothing like it')).toEqual([]);
  });

  it('output schemas, annotations and structured errors were missing', async () => {
    const { rig } = await setup(api());
    for (const tool of rig.instance.tools) {
      expect(tool.dataSchema).toMatchObject({ type: 'object' });
      expect(tool.effect).toBe('read');
      const run = await runTool(tool, { nonsense: true });
      expect(run.envelope).toMatchObject({ success: false, error: { code: 'validation_error' } });
    }
  });
});

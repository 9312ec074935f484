/** Calls that users of stac-mcp 6.5 make. The differences are listed in docs/stac-mcp.md. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { stac } from '../src/index.js';
import { api, classes, item, page } from './support/api.js';
import { useHarness } from './support/rig.js';

const { setup, serve, createRig } = useHarness();

const argsOf: Readonly<Record<string, object>> = {
  get_collection: { collection_id: 'scenes' },
  get_item: { collection_id: 'scenes', item_id: 'a' },
};

describe('a user of stac-mcp', () => {
  it('finds every tool in docs/stac-mcp.md', () => {
    const guide = readFileSync(new URL('../../../docs/stac-mcp.md', import.meta.url), 'utf8');
    for (const { name } of stac.describe()) expect(guide).toContain(`\`${name}\``);
  });

  it('reads the sensor registry without a request', async () => {
    const { rig, server } = await setup(api());
    const data = await rig.data('get_sensor_registry_info');
    const sensors = data['sensors'] as readonly { readonly collection: string }[];
    expect(data['count']).toBe(sensors.length);
    expect(sensors.find(({ collection }) => collection === 'sentinel-2-l2a')).toMatchObject({
      data_type: 'uint16',
      assets: { scl: 'uint8', visual: 'uint8' },
    });
    expect(new Set(sensors.map(({ collection }) => collection)).size).toBe(sensors.length);
    expect(server.requests).toEqual([]);
  });

  it.each(['text', 'json'])('can pass output_format "%s" to every tool', async (output_format) => {
    const schema = { type: 'object', properties: {} };
    const { rig } = await setup(
      api({ before: ({ path }) => (path === '/queryables' ? { json: schema } : undefined) }),
    );
    for (const { name, input } of stac.describe()) {
      expect({ name, has: Object.keys(input.shape).includes('output_format') }).toEqual({
        name,
        has: true,
      });
      expect(await rig.code(name, { ...argsOf[name], output_format })).toBe('success');
      expect(await rig.code(name, { ...argsOf[name], output_format: 'xml' })).toBe(
        'validation_error',
      );
    }
  });

  it('gets all members with output_format "json"', async () => {
    const words = 'word '.repeat(100).trim();
    const values = Array.from({ length: 80 }, (_, index) => index);
    const schema = { type: 'object', properties: { a: { description: words, enum: values } } };
    const { rig } = await setup(
      api({ before: ({ path }) => (path === '/queryables' ? { json: schema } : undefined) }),
    );
    expect(await rig.data('get_root')).not.toHaveProperty('document');
    expect(await rig.data('get_root', { output_format: 'json' })).toMatchObject({
      document: { type: 'Catalog', conformsTo: [classes.core, classes.search] },
    });
    const { properties: brief } = await rig.data('get_queryables');
    expect((brief as { enum: unknown[] }[])[0]!.enum).toHaveLength(50);
    const { properties: whole } = await rig.data('get_queryables', { output_format: 'json' });
    expect(whole).toEqual([{ name: 'a', description: words, enum: values }]);
  });

  const ring = [
    [9, 44],
    [12.5, 44],
    [12.5, 47],
    [9, 44],
  ];
  const polygon = { type: 'Polygon', coordinates: [ring] };
  it.each([
    ['a geometry', polygon, '9,44,12.5,47'],
    ['a geometry in a string', JSON.stringify(polygon), '9,44,12.5,47'],
    ['a Feature', { type: 'Feature', properties: {}, geometry: polygon }, '9,44,12.5,47'],
    [
      'a Feature with a bbox',
      { type: 'Feature', bbox: [1, 2, 3, 4], geometry: polygon },
      '1,2,3,4',
    ],
    [
      'features',
      {
        type: 'FeatureCollection',
        features: [
          { type: 'Feature', geometry: polygon },
          { type: 'Feature', geometry: { type: 'Point', coordinates: [5, 40] } },
        ],
      },
      '5,40,12.5,47',
    ],
  ])('can pass a bbox as GeoJSON: %s', async (_, bbox, sent) => {
    const { rig, server } = await setup(api());
    await rig.data('search_items', { bbox });
    expect(server.requests.at(-1)!.params.get('bbox')).toBe(sent);
    expect(await rig.code('estimate_data_size', { bbox })).toBe('success');
    expect(await rig.code('search_collections', { bbox })).toBe('success');
  });

  it.each([
    { type: 'Feature' },
    { type: 'Polygon', coordinates: [] },
    { type: 'Circle' },
    { type: 'FeatureCollection', features: [] },
    { type: 'Feature', bbox: [1, 2, 3], geometry: polygon },
  ])('gets invalid_input for a bbox that is not a geometry: %j', async (bbox) => {
    const { rig, server } = await setup(api());
    expect(await rig.code('search_items', { bbox })).toBe('invalid_input');
    expect(server.requests).toEqual([]);
  });

  it('can pass empty lists for omitted filters', async () => {
    const { rig, server } = await setup(api());
    const none = { collections: [], ids: '[]' };
    expect((await rig.data('search_items', none))['items']).toHaveLength(2);
    expect([...server.requests.at(-1)!.params.keys()]).toEqual(['limit']);
    expect(await rig.data('estimate_data_size', { ...none, assets: [] })).toMatchObject({
      asset_count: 2,
    });
    expect(await rig.data('get_aggregations', { ...none, aggregations: [] })).toMatchObject({
      sampled: 2,
      aggregations: expect.arrayContaining([expect.objectContaining({ name: 'total_count' })]),
    });
    expect((await rig.data('search_federated', { ...none, catalogs: [] }))['items']).toHaveLength(
      2,
    );
    expect(await rig.data('summarize_search', none)).toMatchObject({ sampled: 2 });
  });
});

describe('a limit above 500', () => {
  const all = Array.from({ length: 1300 }, (_, index) => item(`s${index}`));
  const paged = (fails: (from: number) => boolean = () => false, most = 500) =>
    setup(
      api({
        before: ({ path, params, origin }) => {
          if (path !== '/search') return undefined;
          const from = Number(params.get('from') ?? 0);
          if (fails(from)) return { status: 503, json: {} };
          const size = Number(params.get('limit'));
          if (size > most) return { status: 400, json: { description: 'limit too large' } };
          const href = `${origin}/search?limit=${size}&from=${from + size}`;
          const links = from + size < all.length ? [{ rel: 'next', href }] : [];
          return page(all.slice(from, from + size), links, { numberMatched: all.length });
        },
      }),
      { maxRetries: 0 },
    );
  const lean = { fields: ['id'], limit: 1200 };
  const options = { byteBudget: 1_000_000 };
  const idsIn = (data: unknown) =>
    (data as { readonly items: readonly { readonly id: string }[] }).items.map(({ id }) => id);

  it('is read in several pages', async () => {
    const { rig, server } = await paged();
    const first = await rig.run('search_items', lean, options);
    expect(first).toMatchObject({ success: true, data: { matched: 1300, warnings: [] } });
    expect(idsIn(first.data)).toEqual(all.slice(0, 1200).map(({ id }) => id));
    expect(server.requests.filter(({ path }) => path === '/search')).toHaveLength(3);
    const page_token = first.meta.pagination?.next_token;
    const second = await rig.run('search_items', { ...lean, page_token }, options);
    expect(idsIn(second.data)).toEqual(all.slice(1200).map(({ id }) => id));
  });

  it('neither loses, repeats nor re-reads items when the byte budget cuts the result', async () => {
    const { rig, server } = await paged();
    const found: string[] = [];
    let page_token: string | undefined;
    do {
      const envelope = await rig.run(
        'search_items',
        { ...lean, page_token },
        { byteBudget: 20_000 },
      );
      found.push(...idsIn(envelope.data));
      page_token = envelope.meta.pagination?.next_token;
    } while (page_token !== undefined);
    expect(found).toEqual(all.map(({ id }) => id));
    expect(server.requests.filter(({ path }) => path === '/search')).toHaveLength(3);
  });

  it('keeps the pages before a failed one, with a token that continues there', async () => {
    let isDown = true;
    const { rig } = await paged((from) => isDown && from === 500);
    const first = await rig.run('search_items', lean, options);
    expect(first).toMatchObject({
      success: true,
      data: { warnings: [expect.stringContaining('further page')] },
    });
    expect(idsIn(first.data)).toHaveLength(500);
    isDown = false;
    const page_token = first.meta.pagination?.next_token;
    const second = await rig.run('search_items', { ...lean, page_token }, options);
    expect(idsIn(second.data)[0]).toBe('s500');
  });

  it('does not read ahead beyond the byte budget', async () => {
    const { rig, server } = await paged();
    await rig.run('search_items', { limit: 1200, output_format: 'json' }, options);
    expect(server.requests.filter(({ path }) => path === '/search')).toHaveLength(1);
  });

  it('requests 500 collections per page', async () => {
    const { rig, server } = await setup(
      api({ conformsTo: [classes.core, classes.collectionSearch] }),
    );
    await rig.data('search_collections', { limit: 2000 });
    expect(server.requests.at(-1)!.params.get('limit')).toBe('500');
  });

  it('reads a static catalogue once', async () => {
    const server = await serve(({ path }) => {
      const links = [{ rel: 'items', href: '/items' }];
      if (path === '/') return { json: { type: 'Catalog', id: 'files', links } };
      return page(all);
    });
    const rig = await createRig({ catalogs: { files: { url: server.origin } } });
    const data = await rig.data('search_items', lean, options);
    expect(idsIn(data)).toHaveLength(1200);
    expect(server.requests.filter(({ path }) => path === '/items')).toHaveLength(1);
  });
});

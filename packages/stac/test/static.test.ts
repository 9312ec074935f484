import { describe, expect, it } from 'vitest';
import { collection, item } from './support/api.js';
import { useHarness } from './support/rig.js';
import type { Handler } from '@toolkeel/pack-kit/testing';

const { serve, createRig } = useHarness();

type Files = Record<string, unknown>;

const files: Files = {
  '/catalog.json': {
    type: 'Catalog',
    stac_version: '1.0.0',
    id: 'files',
    description: 'x',
    links: [
      { rel: 'self', href: './catalog.json' },
      { rel: 'child', href: './alps/collection.json' },
      { rel: 'child', href: './deep/catalog.json' },
      { rel: 'child', href: 'file:///etc/passwd' },
      { rel: 'child', href: './gone/collection.json' },
    ],
  },
  '/alps/collection.json': collection('alps', {
    links: [
      { rel: 'item', href: './a1.json' },
      { rel: 'item', href: './a2.json' },
      { rel: 'parent', href: '../catalog.json' },
      { rel: 'child', href: '../catalog.json' },
    ],
  }),
  '/alps/a1.json': item('a1', { collection: 'alps' }),
  '/alps/a2.json': item('a2', {
    collection: undefined,
    properties: { datetime: '2020-01-01T00:00:00Z', 'eo:cloud_cover': 80 },
  }),
  '/deep/catalog.json': {
    type: 'Catalog',
    id: 'deep',
    links: [{ rel: 'child', href: './sea/collection.json' }],
  },
  '/deep/sea/collection.json': collection('sea', {
    extent: { spatial: { bbox: [[100, 0, 110, 10]] }, temporal: { interval: [[null, null]] } },
    links: [{ rel: 'items', href: './items.json' }],
  }),
  '/deep/sea/items.json': {
    type: 'FeatureCollection',
    features: [item('s1', { collection: 'sea', bbox: [100, 0, 101, 1], geometry: null })],
  },
};

const serving =
  (tree: Files): Handler =>
  ({ path }) =>
    Object.hasOwn(tree, path) ? { json: tree[path] } : { status: 404, json: {} };

const ids = (data: Readonly<Record<string, unknown>>, list = 'items') =>
  (data[list] as { id: string }[]).map(({ id }) => id);

describe('a static catalogue', () => {
  const walked = async (tree: Files = files) => {
    const server = await serve(serving(tree));
    const rig = await createRig({ catalogs: { files: { url: `${server.origin}/catalog.json` } } });
    return { rig, server };
  };

  it('returns items and reports unreadable documents', async () => {
    const { rig } = await walked();
    const data = await rig.data('search_items');
    expect(ids(data).toSorted()).toEqual(['a1', 'a2', 's1']);
    expect(data['warnings']).toEqual([expect.stringContaining('1 documents')]);
    expect(
      (data['items'] as { collection: string }[]).map(({ collection: of }) => of).toSorted(),
    ).toEqual(['alps', 'alps', 'sea']);
  });

  it('is searched by collection, area, time, id and query', async () => {
    const { rig, server } = await walked();
    const search = async (args: object) => ids(await rig.data('search_items', args));
    expect(await search({ collections: ['alps'] })).toEqual(['a1', 'a2']);
    expect(await search({ datetime: '2024' })).toEqual(['a1', 's1']);
    expect(await search({ ids: ['a2'] })).toEqual(['a2']);
    expect(await search({ query: { 'eo:cloud_cover': { gt: 50 } } })).toEqual(['a2']);
    const before = server.requests.length;
    expect(await search({ bbox: [9, 44, 10.5, 45.5] })).toEqual(['a1', 'a2']);
    // The extent of the sea does not match, so its items are not requested.
    expect(server.requests.slice(before).map(({ path }) => path)).not.toContain(
      '/deep/sea/items.json',
    );
    const triangle = {
      type: 'Polygon',
      coordinates: [
        [
          [11.5, 45],
          [12, 45],
          [12, 46],
          [11.5, 45],
        ],
      ],
    };
    expect(await search({ intersects: triangle })).toEqual([]);
    expect(await rig.code('search_items', { filter: 'a = 1' })).toBe('unsupported_by_upstream');
  });

  it('paginates', async () => {
    const { rig } = await walked();
    const first = await rig.run('search_items', { limit: 2 });
    const token = first.meta.pagination?.next_token;
    const second = await rig.run('search_items', { limit: 2, page_token: token });
    expect(second).toMatchObject({
      success: true,
      meta: { pagination: { result_count: 1, has_more: false } },
    });
  });

  it('has collections and items', async () => {
    const { rig } = await walked();
    expect(ids(await rig.data('search_collections'), 'collections')).toEqual(['alps', 'sea']);
    expect(await rig.data('get_collection', { collection_id: 'sea' })).toMatchObject({
      collection: { id: 'sea' },
    });
    expect(await rig.data('get_item', { collection_id: 'alps', item_id: 'a2' })).toMatchObject({
      item: { id: 'a2', collection: 'alps' },
    });
    expect(await rig.code('get_item', { collection_id: 'alps', item_id: 's1' })).toBe('not_found');
    expect(await rig.code('get_collection', { collection_id: 'none' })).toBe('not_found');
    expect(await rig.code('get_queryables')).toBe('unsupported_by_upstream');
    expect(await rig.data('get_catalog_capabilities')).toMatchObject({
      kind: 'static',
      search: { available: true, methods: [] },
    });
  });

  it('returns the other items if one file stalls', async () => {
    const answer = serving(files);
    const server = await serve((request, count) =>
      request.path === '/alps/a2.json' ? { act: 'stall' } : answer(request, count),
    );
    const url = `${server.origin}/catalog.json`;
    const rig = await createRig({ catalogs: { files: { url } }, toolTimeoutSecs: 1.5 });
    const data = await rig.data('search_items');
    expect(ids(data)).toContain('a1');
    expect(ids(data)).not.toContain('a2');
  });

  it('without end is read within the deadline', async () => {
    const server = await serve(({ path }) => ({
      json: {
        type: 'Catalog',
        id: path,
        links: Array.from({ length: 10 }, (_, index) => ({
          rel: 'child',
          href: `.${path.replace('.json', '')}/${index}.json`,
        })),
      },
    }));
    const rig = await createRig({
      catalogs: { files: { url: `${server.origin}/catalog.json` } },
      toolTimeoutSecs: 5,
    });
    const data = await rig.data('search_items');
    expect(data).toMatchObject({ items: [], warnings: [expect.stringContaining('too large')] });
    expect(server.requests.length).toBeLessThanOrEqual(301);
  });
});

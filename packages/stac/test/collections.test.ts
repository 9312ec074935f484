import { describe, expect, it } from 'vitest';
import { api, classes, collection } from './support/api.js';
import type { Seen } from './support/server.js';
import { useWorld } from './support/world.js';

const { world } = useWorld();

const ids = (data: Readonly<Record<string, unknown>>) =>
  (data['collections'] as { id: string }[]).map(({ id }) => id);
const many = Array.from({ length: 25 }, (_, index) =>
  collection(`c${String(index).padStart(2, '0')}`),
);

/** Ten a page, by offset. */
const paged = (conformsTo?: readonly string[]) =>
  api({
    ...(conformsTo && { conformsTo }),
    before: ({ path, params }: Seen) => {
      if (path !== '/collections') return undefined;
      const offset = Number(params.get('offset') ?? 0);
      const size = Number(params.get('limit') ?? 10);
      const links =
        offset + size < 25
          ? [{ rel: 'next', href: `/collections?offset=${offset + size}&limit=${size}` }]
          : [];
      return { json: { collections: many.slice(offset, offset + size), links } };
    },
  });

describe('collections', () => {
  it('are all looked through where the server cannot search', async () => {
    const { rig, server } = await world(paged());
    const data = await rig.data('search_collections', { q: 'c24' });
    expect(ids(data)).toEqual(['c24']);
    expect(data).toMatchObject({ searched: 'local', matched: 1 });
    expect(server.seen.filter(({ path }) => path === '/collections')).toHaveLength(3);
  });

  it('are searched by the server where it can', async () => {
    const conformsTo = [classes.core, classes.collectionSearch, classes.freeText];
    const { rig, server } = await world(paged(conformsTo));
    expect(
      await rig.data('search_collections', {
        q: 'x',
        bbox: [1, 2, 3, 4],
        datetime: '2024',
        limit: 5,
      }),
    ).toMatchObject({ searched: 'server' });
    expect(Object.fromEntries(server.seen.at(-1)!.params)).toEqual({
      q: 'x',
      bbox: '1,2,3,4',
      datetime: '2024-01-01T00:00:00Z/2024-12-31T23:59:59.999Z',
      limit: '5',
    });
    expect(await rig.data('search_collections', { bbox: [170, 2, -170, 4] })).toMatchObject({
      searched: 'local',
    });
  });

  it.each([undefined, [classes.core, classes.collectionSearch]])(
    'are listed page by page',
    async (conformsTo) => {
      const { rig } = await world(paged(conformsTo));
      const found: string[] = [];
      let token: string | undefined;
      do {
        const envelope = await rig.run('search_collections', {
          limit: 7,
          ...(token && { page_token: token }),
        });
        if (!envelope.success) throw new Error(envelope.error.message);
        found.push(...ids(envelope.data));
        token = envelope.meta.pagination?.next_token;
      } while (token !== undefined && found.length < 60);
      expect(found).toEqual(many.map(({ id }) => id));
    },
  );

  it('end where their list leads in circles', async () => {
    const { rig } = await world(
      api({
        before: ({ path }) =>
          path === '/collections'
            ? {
                json: {
                  collections: many,
                  links: [{ rel: 'next', href: `/collections?t=${Math.random()}` }],
                },
              }
            : undefined,
      }),
    );
    expect(ids(await rig.data('search_collections', { q: 'c01' }))).toEqual(['c01']);
  });

  it('are found by extent', async () => {
    const at = (id: string, bbox: number[], from: string) =>
      collection(id, {
        extent: { spatial: { bbox: [bbox] }, temporal: { interval: [[from, null]] } },
      });
    const collections = [
      at('alps', [5, 44, 16, 48], '2015-01-01T00:00:00Z'),
      at('fiji', [176, -20, -178, -12], '2020-01-01T00:00:00Z'),
    ];
    const { rig } = await world(api({ collections }));
    expect(ids(await rig.data('search_collections', { bbox: [179, -18, -179, -17] }))).toEqual([
      'fiji',
    ]);
    expect(ids(await rig.data('search_collections', { datetime: '../2016' }))).toEqual(['alps']);
  });

  it('are shown whole, or as much of them as was asked for', async () => {
    const { rig } = await world(
      api({
        collections: [collection('a', { summaries: { gsd: [10] }, providers: [{ name: 'ESA' }] })],
      }),
    );
    expect(await rig.data('get_collection', { collection_id: 'a' })).toMatchObject({
      collection: { providers: ['ESA'], description: 'All about a' },
    });
    expect(await rig.data('get_collection', { collection_id: 'a', fields: 'summaries' })).toEqual({
      catalog: 'test',
      collection: { id: 'a', summaries: { gsd: [10] } },
    });
    const whole = await rig.data('get_collection', { collection_id: 'a', output_format: 'json' });
    expect(whole['collection']).not.toHaveProperty('links');
  });

  it('are asked for again only if they have changed', async () => {
    const { rig, server } = await world(
      api({
        before: ({ path, headers }) => {
          if (path !== '/collections/a') return undefined;
          if (headers['if-none-match'] === '"1"') return { status: 304 };
          return { json: collection('a'), headers: { etag: '"1"' } };
        },
      }),
    );
    const first = await rig.data('get_collection', { collection_id: 'a' });
    expect(await rig.data('get_collection', { collection_id: 'a' })).toEqual(first);
    expect(
      server.seen
        .filter(({ path }) => path === '/collections/a')
        .map(({ headers }) => headers['if-none-match']),
    ).toEqual([undefined, '"1"']);
  });
});

/** Regressions: results that claimed more, or less, than the catalogue's documents show. */
import { describe, expect, it } from 'vitest';
import { api, classes, collection, item, page } from './support/api.js';
import { useHarness } from './support/rig.js';

const { setup, serve, createRig } = useHarness();

type Answer = Readonly<Record<string, unknown>>;
const idsIn = (data: Answer) => (data['items'] as { id: string }[]).map(({ id }) => id);

describe('minima and maxima of an incomplete sample', () => {
  const sampled = (matched: number) =>
    setup(
      api({
        before: ({ path }) =>
          path === '/search'
            ? page([item('a'), item('b')], [], { numberMatched: matched })
            : undefined,
      }),
    );

  it('are not reported as datetime_min and datetime_max of all items', async () => {
    const aggregations = ['datetime_min', 'datetime_max'];
    const part = await sampled(500);
    const { aggregations: ofPart } = await part.rig.data('get_aggregations', { aggregations });
    expect(ofPart).toEqual(
      aggregations.map((name) => ({
        name,
        data_type: 'datetime',
        value: null,
        sample_value: '2024-06-01T10:00:00.000Z',
      })),
    );
    const whole = await sampled(2);
    const { aggregations: ofAll } = await whole.rig.data('get_aggregations', { aggregations });
    expect(ofAll).toEqual(
      aggregations.map((name) => ({
        name,
        data_type: 'datetime',
        value: '2024-06-01T10:00:00.000Z',
      })),
    );
  });

  it('are marked as the sample’s in a summary', async () => {
    const { rig } = await sampled(500);
    expect(await rig.data('summarize_search')).toMatchObject({
      complete: false,
      first_datetime: null,
      last_datetime: null,
      footprint: null,
      cloud_cover: { min: null, median: 12, max: null },
      sample_extremes: {
        first_datetime: '2024-06-01T10:00:00.000Z',
        cloud_cover_max: 12,
        footprint: [10, 45, 11, 46],
      },
    });
    const whole = await sampled(2);
    expect(await whole.rig.data('summarize_search')).toMatchObject({
      first_datetime: '2024-06-01T10:00:00.000Z',
      footprint: [10, 45, 11, 46],
      sample_extremes: null,
    });
  });
});

describe('a dead conformance link', () => {
  const withLink = (reply: { status: number; json: unknown }, href = '/conformance') =>
    setup(
      api({
        conformsTo: [],
        extraLinks: () => [{ rel: 'conformance', href }],
        before: ({ path }) => (path === '/conformance' ? reply : undefined),
      }),
      { maxRetries: 0 },
    );

  it.each([
    [404, 'not_found'],
    [500, 'upstream_unavailable'],
  ])('with status %i does not fail get_root or a search', async (status, code) => {
    const { rig } = await withLink({ status, json: {} });
    expect(await rig.data('get_root')).toMatchObject({
      id: 'test',
      conformance_count: 0,
      warnings: [expect.stringContaining(code)],
    });
    expect(idsIn(await rig.data('search_items'))).toEqual(['a', 'b']);
    expect(await rig.data('get_catalog_capabilities')).toMatchObject({
      search: { available: true },
      warnings: [expect.stringContaining(code)],
    });
    // Tools that depend on the page report the failure, not a missing capability.
    expect(await rig.code('get_conformance')).toBe(code);
    expect(await rig.code('search_items', { filter: 'a = 1' })).toBe(code);
  });

  it('that is not an http URL is ignored', async () => {
    const { rig } = await withLink({ status: 404, json: {} }, 'file:///conformance');
    expect(await rig.data('get_root')).toMatchObject({ id: 'test', warnings: [] });
  });
});

describe('a list of collections', () => {
  it('has the number of matches of the server', async () => {
    const list = { collections: [collection('a'), collection('b')] };
    for (const number of [{ numberMatched: 731 }, { context: { matched: 731 } }]) {
      const { rig } = await setup(
        api({
          conformsTo: [classes.core, classes.collectionSearch],
          before: ({ path, origin }) =>
            path === '/collections'
              ? {
                  json: {
                    ...list,
                    ...number,
                    links: [{ rel: 'next', href: `${origin}/collections?token=2` }],
                  },
                }
              : undefined,
        }),
      );
      expect(await rig.data('search_collections', { limit: 2 })).toMatchObject({ matched: 731 });
    }
  });
});

describe('a federated search', () => {
  it('reports every catalogue and its reason if all fail', async () => {
    const down = await serve(() => ({ status: 503, json: {} }));
    const shut = await serve(() => ({ status: 401, json: { errors: ['no key given'] } }));
    const rig = await createRig({
      catalogs: { first: { url: down.origin }, second: { url: shut.origin } },
      maxRetries: 0,
    });
    const envelope = await rig.run('search_federated');
    expect(envelope).toMatchObject({
      success: false,
      error: {
        code: 'upstream_unavailable',
        message: expect.stringMatching(
          /first: upstream_unavailable .*; second: unauthorized /,
        ) as string,
      },
    });
  });
});

describe('a static catalogue', () => {
  const tree = (files: Readonly<Record<string, unknown>>) => async () => {
    const server = await serve(({ path }) =>
      Object.hasOwn(files, path) ? { json: files[path] } : { status: 404, json: {} },
    );
    const rig = await createRig({ catalogs: { files: { url: `${server.origin}/catalog.json` } } });
    return { rig, server };
  };
  const links = (rel: string, ...hrefs: readonly string[]) => hrefs.map((href) => ({ rel, href }));
  const nowhere = [0, 0, 0, 0];
  const start = tree({
    '/catalog.json': {
      type: 'Catalog',
      id: 'files',
      links: links('child', '/alps.json', '/mixed.json'),
    },
    '/alps.json': collection('alps', { links: links('item', '/a1', '/a2', '/a3') }),
    '/a1': item('a1', { collection: 'alps' }),
    '/a2': item('a2', { collection: 'alps', bbox: nowhere }),
    '/a3': item('a3', { collection: 'alps', bbox: [11, 46, 11, 45] }),
    '/mixed.json': collection('mixed', {
      extent: { spatial: { bbox: [nowhere] }, temporal: { interval: [[null, null]] } },
      links: links('item', '/m1', '/m2'),
    }),
    '/m1': item('m1', { collection: 'mixed' }),
    '/m2': item('m2', { collection: 'guest' }),
  });

  it('has items whose bbox or whose collection’s extent is degenerate', async () => {
    const { rig } = await start();
    const data = await rig.data('search_items', { bbox: [10.2, 45.2, 10.4, 45.4] });
    expect(idsIn(data).toSorted()).toEqual(['a1', 'a2', 'a3', 'm1', 'm2']);
    expect(idsIn(await rig.data('search_items', { bbox: [50, 10, 51, 11] }))).toEqual([]);
  });

  it('has items whose collection differs from their parent', async () => {
    const { rig } = await start();
    expect(idsIn(await rig.data('search_items', { collections: ['guest'] }))).toEqual(['m2']);
    expect(idsIn(await rig.data('search_items', { collections: ['mixed'] }))).toEqual(['m1']);
    const args = { collection_id: 'guest', item_id: 'm2' };
    expect(await rig.data('get_item', args)).toMatchObject({ item: { collection: 'guest' } });
  });

  it('reads the items of the named collection first', async () => {
    const { rig, server } = await start();
    expect(idsIn(await rig.data('search_items', { collections: ['mixed'], limit: 1 }))).toEqual([
      'm1',
    ]);
    const order = server.requests.map(({ path }) => path).filter((path) => /^\/[am]\d$/.test(path));
    expect(order.slice(0, 2).toSorted()).toEqual(['/m1', '/m2']);
  });

  it('reports the number of matches if all of it was read', async () => {
    const { rig } = await start();
    expect(await rig.data('search_items', { collections: ['alps'] })).toMatchObject({ matched: 3 });
    expect(await rig.data('search_items', { collections: ['alps'], limit: 2 })).toMatchObject({
      matched: null,
    });
    expect(await rig.data('summarize_search')).toMatchObject({ count: 5, complete: true });
  });

  it('does not report a number of matches if a document cannot be read', async () => {
    const { rig } = await tree({
      '/catalog.json': { type: 'Catalog', id: 'files', links: links('item', '/a1', '/gone') },
      '/a1': item('a1'),
    })();
    expect(await rig.data('search_items')).toMatchObject({ matched: null });
  });

  it('bounds the search below other collections, and reports it', async () => {
    const many = Array.from({ length: 130 }, (_, index) => `/x${index}`);
    const files = Object.fromEntries(
      many.map((path) => [path, item(path.slice(1), { collection: 'big' })]),
    );
    const { rig, server } = await tree({
      '/catalog.json': {
        type: 'Catalog',
        id: 'files',
        links: links('child', '/alps.json', '/big.json'),
      },
      '/alps.json': collection('alps', { links: links('item', '/a1') }),
      '/big.json': collection('big', { links: links('item', ...many) }),
      '/a1': item('a1', { collection: 'alps' }),
      ...files,
    })();
    expect(await rig.data('search_items', { collections: ['alps'] })).toMatchObject({
      items: [{ id: 'a1' }],
      matched: null,
      warnings: [expect.stringContaining('below other collections')],
    });
    expect(server.requests.filter(({ path }) => path.startsWith('/x'))).toHaveLength(100);
  });
});

import { describe, expect, it } from 'vitest';
import { api, classes, item, page } from './support/api.js';
import { useHarness } from './support/rig.js';
import type { ReceivedRequest, Reply } from '@toolkeel/pack-kit/testing';

const { setup } = useHarness();

const all = Object.values(classes);
const searches = (requests: readonly ReceivedRequest[]) =>
  requests.filter(({ path }) => path === '/search');
const ids = (data: Readonly<Record<string, unknown>>) =>
  (data['items'] as { id: string }[]).map(({ id }) => id);

describe('a search', () => {
  it('uses POST if offered', async () => {
    const { rig, server } = await setup(api({ post: true, conformsTo: all }));
    await rig.data('search_items', {
      collections: ['scenes'],
      bbox: [10, 45, 11, 46],
      datetime: '2024-06',
      query: { 'eo:cloud_cover': { lt: 20 } },
      sortby: '-properties.datetime',
      fields: ['assets'],
      limit: 5,
    });
    const [search] = searches(server.requests);
    expect(search).toMatchObject({
      method: 'POST',
      json: {
        collections: ['scenes'],
        bbox: [10, 45, 11, 46],
        datetime: '2024-06-01T00:00:00Z/2024-06-30T23:59:59.999Z',
        query: { 'eo:cloud_cover': { lt: 20 } },
        sortby: [{ field: 'properties.datetime', direction: 'desc' }],
        fields: { include: ['id', 'collection', 'bbox', 'properties.datetime', 'assets'] },
        limit: 5,
      },
    });
  });

  it('uses GET otherwise, encoded as the specification requires', async () => {
    const { rig, server } = await setup(api({ conformsTo: all }));
    await rig.data('search_items', {
      collections: ['scenes', 'maps'],
      bbox: [10, 45, 11, 46],
      query: { a: 1 },
      sortby: '-a,+b',
      fields: '-geometry',
      filter: { op: '<', args: [{ property: 'eo:cloud_cover' }, 10] },
    });
    const [search] = searches(server.requests);
    expect(search?.method).toBe('GET');
    expect(Object.fromEntries(search!.params)).toEqual({
      collections: 'scenes,maps',
      bbox: '10,45,11,46',
      query: '{"a":{"eq":1}}',
      sortby: '-a,+b',
      fields: '-geometry',
      filter: 'eo:cloud_cover < 10',
      'filter-lang': 'cql2-text',
      limit: '10',
    });
  });

  it.each([404, 405, 501])(
    'falls back to GET after a %i to POST, and remembers it',
    async (status) => {
      const { rig, server } = await setup(
        api({
          post: true,
          before: ({ path, method }) =>
            path === '/search' && method === 'POST' ? { status, json: {} } : undefined,
        }),
      );
      expect(ids(await rig.data('search_items'))).toEqual(['a', 'b']);
      await rig.data('search_items');
      expect(searches(server.requests).map(({ method }) => method)).toEqual(['POST', 'GET', 'GET']);
    },
  );

  it('requests the landing page once', async () => {
    const { rig, server } = await setup(api());
    await rig.data('search_items');
    await rig.data('search_items', { limit: 1 });
    expect(server.requests.filter(({ path }) => path === '/')).toHaveLength(1);
  });

  it('sends a box across the antimeridian as a geometry', async () => {
    const { rig, server } = await setup(api({ post: true }));
    await rig.data('search_items', { bbox: [170, -20, -170, -10] });
    const [{ json }] = searches(server.requests) as [ReceivedRequest];
    expect(json['bbox']).toBeUndefined();
    expect(json['intersects']).toMatchObject({ type: 'MultiPolygon' });
  });

  it('converts between CQL2 text and JSON', async () => {
    const json = { op: '=', args: [{ property: 'a' }, 1] };
    const only = (...more: string[]) => [classes.core, classes.search, classes.filter, ...more];
    const jsonOnly = await setup(api({ post: true, conformsTo: only(classes.json) }));
    await jsonOnly.rig.data('search_items', { filter: 'a = 1' });
    expect(searches(jsonOnly.server.requests)[0]?.json).toMatchObject({
      filter: json,
      'filter-lang': 'cql2-json',
    });
    const textOnly = await setup(api({ post: true, conformsTo: only(classes.text) }));
    await textOnly.rig.data('search_items', { filter: json });
    expect(searches(textOnly.server.requests)[0]?.json).toMatchObject({
      filter: 'a = 1',
      'filter-lang': 'cql2-text',
    });
    expect(await jsonOnly.rig.code('search_items', { filter: 'a = ' })).toBe('invalid_input');
  });

  it('converts a query to CQL2 if only that is offered', async () => {
    const conformsTo = [classes.core, classes.search, classes.filter, classes.json];
    const { rig, server } = await setup(api({ post: true, conformsTo }));
    await rig.data('search_items', { query: { a: { gt: 1 } }, filter: 'b = 2' });
    expect(searches(server.requests)[0]?.json['filter']).toEqual({
      op: 'and',
      args: [
        { op: '>', args: [{ property: 'a' }, 1] },
        { op: '=', args: [{ property: 'b' }, 2] },
      ],
    });
  });

  it('filters locally if the server may have ignored the query', async () => {
    const items = [item('clear', { properties: { 'eo:cloud_cover': 1 } }), item('cloudy')];
    const { rig } = await setup(api({ items }));
    const data = await rig.data('search_items', { query: { 'eo:cloud_cover': { lt: 5 } } });
    expect(ids(data)).toEqual(['clear']);
    expect(data['matched']).toBeNull();
    expect(data['warnings']).toHaveLength(1);
  });

  it('reports unsupported filters', async () => {
    const { rig } = await setup(api());
    expect(await rig.code('search_items', { filter: 'a = 1' })).toBe('unsupported_by_upstream');
  });

  it('tries the other name of a property if the server rejects the sort key', async () => {
    const { rig, server } = await setup(
      api({
        post: true,
        conformsTo: all,
        before: ({ path, json }) =>
          path === '/search' && JSON.stringify(json['sortby']).includes('"datetime"')
            ? { status: 400, json: { description: 'unknown field' } }
            : undefined,
      }),
    );
    expect(ids(await rig.data('search_items', { sortby: '-datetime' }))).toEqual(['a', 'b']);
    expect(searches(server.requests)).toHaveLength(2);
  });

  it('accepts arguments as JSON strings', async () => {
    const { rig, server } = await setup(api({ post: true }));
    await rig.data('search_items', {
      collections: '["scenes"]',
      bbox: '[1,2,3,4]',
      limit: '3',
      query: '{"a":{"eq":1}}',
    });
    expect(searches(server.requests)[0]?.json).toMatchObject({
      collections: ['scenes'],
      bbox: [1, 2, 3, 4],
      limit: 3,
    });
  });

  it('lists the items of one collection without item search', async () => {
    const { rig, server } = await setup(({ path, origin }) => {
      if (path === '/')
        return {
          json: {
            conformsTo: ['http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/core'],
            links: [{ rel: 'data', href: `${origin}/collections` }],
          },
        };
      return path === '/collections/scenes/items' ? page([item('a')]) : { status: 404, json: {} };
    });
    expect(
      ids(await rig.data('search_items', { collections: ['scenes'], bbox: [1, 2, 3, 4] })),
    ).toEqual(['a']);
    expect(server.requests.at(-1)?.params.get('bbox')).toBe('1,2,3,4');
    expect(await rig.code('search_items', {})).toBe('unsupported_by_upstream');
  });
});

describe('pages', () => {
  /** Seven items, two per page, with next links of the given form. */
  const paged = (
    link: (token: number, request: ReceivedRequest) => Record<string, unknown>,
    tokenOf: (request: ReceivedRequest) => number,
  ) => {
    const items = Array.from({ length: 7 }, (_, index) => item(`i${index}`));
    return api({
      post: true,
      conformsTo: all,
      before: (request): Reply | undefined => {
        if (request.path !== '/search') return undefined;
        const from = tokenOf(request);
        const to = from + 2;
        return page(
          items.slice(from, to),
          to < items.length ? [{ rel: 'next', ...link(to, request) }] : [],
          { numberMatched: 7 },
        );
      },
    });
  };
  const readAll = async (rig: Awaited<ReturnType<typeof setup>>['rig'], args: object) => {
    const found: string[] = [];
    let token: string | undefined;
    for (let pages = 0; pages < 20; pages++) {
      const envelope = await rig.run('search_items', {
        ...args,
        ...(token && { page_token: token }),
      });
      if (!envelope.success) throw new Error(envelope.error.message);
      found.push(...ids(envelope.data));
      token = envelope.meta.pagination?.next_token;
      if (!token) break;
    }
    return found;
  };
  const everything = Array.from({ length: 7 }, (_, index) => `i${index}`);
  const fromBody = ({ json }: ReceivedRequest) => Number(json['token'] ?? 0);
  const intersects = {
    type: 'Polygon',
    coordinates: [[...Array.from({ length: 500 }, (_, i) => [i / 1000, 1 + i / 1000]), [0, 1]]],
  };

  it.each<[string, Parameters<typeof paged>[0], Parameters<typeof paged>[1]]>([
    [
      'a relative GET',
      (token) => ({ href: `./search?token=${token}` }),
      ({ params }) => Number(params.get('token') ?? 0),
    ],
    [
      'an absolute GET',
      (token, { origin }) => ({ href: `${origin}/search?token=${token}&limit=2` }),
      ({ params }) => Number(params.get('token') ?? 0),
    ],
    [
      'POST with merge',
      (token) => ({ href: '/search', method: 'POST', merge: true, body: { token } }),
      fromBody,
    ],
    [
      'POST with the whole body',
      (token, { json }) => ({ href: '/search', method: 'POST', body: { ...json, token } }),
      fromBody,
    ],
    [
      'POST with merge false',
      (token, { json }) => ({
        href: '/search',
        method: 'POST',
        merge: false,
        body: { ...json, token },
      }),
      fromBody,
    ],
    [
      'POST with a header',
      (token) => ({ href: '/search', method: 'POST', headers: { 'x-page': String(token) } }),
      ({ headers }) => Number(headers['x-page'] ?? 0),
    ],
  ])('are followed through %s', async (_, link, tokenOf) => {
    const { rig, server } = await setup(paged(link, tokenOf));
    expect(await readAll(rig, { collections: ['scenes'], limit: 2, intersects })).toEqual(
      everything,
    );
    expect(searches(server.requests)).toHaveLength(4);
    const last = searches(server.requests).at(-1)!;
    if (last.method === 'POST')
      expect(last.json).toMatchObject({ collections: ['scenes'], intersects });
  });

  it('are cut if the server ignores the limit', async () => {
    const { rig } = await setup(
      api({
        before: ({ path }) =>
          path === '/search'
            ? page(Array.from({ length: 7 }, (_, index) => item(`i${index}`)))
            : undefined,
      }),
    );
    expect(await readAll(rig, { limit: 3 })).toEqual(everything);
  });

  it('are cut at an item if the result would be too large', async () => {
    const { rig } = await setup(
      paged(
        (token) => ({ href: `/search?token=${token}` }),
        ({ params }) => Number(params.get('token') ?? 0),
      ),
    );
    const found: string[] = [];
    let token: string | undefined;
    do {
      const envelope = await rig.run(
        'search_items',
        { output_format: 'json', ...(token && { page_token: token }) },
        { byteBudget: 1800 },
      );
      if (!envelope.success) throw new Error(JSON.stringify(envelope.error));
      found.push(...ids(envelope.data));
      token = envelope.meta.pagination?.next_token;
    } while (token !== undefined && found.length < 20);
    expect(found).toEqual(everything);
  });

  it('end if a link returns to the same page', async () => {
    const loop = ({ path }: ReceivedRequest) =>
      path === '/search'
        ? page([item('a')], [{ rel: 'next', href: './search?limit=10' }])
        : undefined;
    const { rig, server } = await setup(api({ before: loop }));
    const envelope = await rig.run('search_items');
    expect(envelope.meta.pagination).toMatchObject({ has_more: false });
    expect(envelope).toMatchObject({
      data: { warnings: [expect.stringContaining('returned a page again')] },
    });
    expect(searches(server.requests)).toHaveLength(1);
  });

  it('end if new tokens return the same items', async () => {
    let count = 0;
    const loop = ({ path }: ReceivedRequest) =>
      path === '/search'
        ? page([item('a')], [{ rel: 'next', href: `./search?token=${count++}` }])
        : undefined;
    const { rig } = await setup(api({ before: loop }));
    expect(await readAll(rig, {})).toEqual(['a']);
  });

  it('end if a loop is longer than one page', async () => {
    const loop = ({ path, params }: ReceivedRequest) => {
      const token = Number(params.get('token') ?? 0);
      return path === '/search'
        ? page(
            [item(`i${token}`)],
            [{ rel: 'next', href: `./search?token=${token === 2 ? 1 : token + 1}` }],
          )
        : undefined;
    };
    const { rig } = await setup(api({ before: loop }));
    expect(await readAll(rig, {})).toEqual(['i0', 'i1', 'i2']);
  });

  it('may be empty, but not endlessly', async () => {
    const gaps = ({ path, params }: ReceivedRequest) => {
      const token = Number(params.get('token') ?? 0);
      return path === '/search'
        ? page(token === 2 ? [item('a')] : [], [
            { rel: 'next', href: `./search?token=${token + 1}` },
          ])
        : undefined;
    };
    const { rig, server } = await setup(api({ before: gaps }));
    expect(await readAll(rig, {})).toEqual(['a']);
    expect(searches(server.requests).length).toBeLessThanOrEqual(9);
  });

  it('need a token of the same search', async () => {
    const { rig } = await setup(
      paged(
        (token) => ({ href: `/search?token=${token}` }),
        ({ params }) => Number(params.get('token') ?? 0),
      ),
    );
    const first = await rig.run('search_items', { collections: ['scenes'], limit: 2 });
    const token = first.meta.pagination?.next_token;
    expect(token).toBeTypeOf('string');
    expect(await rig.code('search_items', { collections: ['maps'], page_token: token })).toBe(
      'invalid_input',
    );
    expect(await rig.code('search_items', { page_token: 'made up' })).toBe('invalid_input');
    expect(
      await rig.code('search_items', { collections: ['scenes'], limit: 5, page_token: token }),
    ).toBe('success');
  });
});

describe('a page that is too large', () => {
  const limitIn = ({ json, params, method }: ReceivedRequest) =>
    Number(method === 'POST' ? json['limit'] : params.get('limit'));
  const stock = { status: 502, json: { message: 'Internal server error' } };

  it.each<[string, boolean, Reply]>([
    ['413 by GET', false, { status: 413, text: '' }],
    ['413 by POST', true, { status: 413, json: { message: 'Request Entity Too Large' } }],
    ['the stock 502 of a gateway', true, stock],
  ])('is halved after %s', async (_, post, reply) => {
    const { rig, server } = await setup(
      api({
        post,
        items: Array.from({ length: 50 }, (_unused, index) => item(`i${index}`)),
        before: (request) =>
          request.path === '/search' && limitIn(request) > 10 ? reply : undefined,
      }),
    );
    const envelope = await rig.run('search_items', { limit: 40 });
    expect(ids((envelope as { data: Record<string, unknown> }).data)).toHaveLength(10);
    expect(searches(server.requests).map(limitIn)).toEqual([40, 20, 10]);
    expect(envelope.meta.retry_count).toBe(0);
  });

  it('is halved if it exceeds maxResponseBytes', async () => {
    const { rig } = await setup(
      api({
        items: Array.from({ length: 100 }, (_, index) =>
          item(`i${index}`, { filler: 'x'.repeat(2000) }),
        ),
      }),
      { maxResponseBytes: 65_536 },
    );
    const data = await rig.data('search_items', { limit: 100 });
    expect(ids(data)).toHaveLength(25);
  });

  it('fails if even a small page is too large', async () => {
    const { rig } = await setup(api({ items: [item('a', { filler: 'x'.repeat(80_000) })] }), {
      maxResponseBytes: 65_536,
    });
    expect(await rig.code('search_items')).toBe('response_too_large');
  });

  it('is retried like any fault if it has a single item', async () => {
    const { rig, server } = await setup(
      api({ before: ({ path }, count) => (path === '/search' && count === 2 ? stock : undefined) }),
    );
    expect(ids(await rig.data('search_items', { limit: 1 }))).toEqual(['a']);
    expect(searches(server.requests)).toHaveLength(2);
  });
});

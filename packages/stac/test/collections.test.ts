import { describe, expect, it } from 'vitest';
import { api, classes, collection } from './support/api.js';
import { useHarness } from './support/rig.js';
import type { ReceivedRequest } from '@toolkeel/pack-kit/testing';

const { createRig, serve, setup } = useHarness();

const ids = (data: Readonly<Record<string, unknown>>) =>
  (data['collections'] as { id: string }[]).map(({ id }) => id);
const many = Array.from({ length: 25 }, (_, index) =>
  collection(`c${String(index).padStart(2, '0')}`),
);

/** Ten per page, by offset. */
const paged = (conformsTo?: readonly string[]) =>
  api({
    ...(conformsTo && { conformsTo }),
    before: ({ path, params }: ReceivedRequest) => {
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
  it('are searched locally if the server cannot search', async () => {
    const { rig, server } = await setup(paged());
    const data = await rig.data('search_collections', { q: 'c24' });
    expect(ids(data)).toEqual(['c24']);
    expect(data).toMatchObject({ searched: 'local', matched: 1 });
    expect(server.requests.filter(({ path }) => path === '/collections')).toHaveLength(3);
  });

  it('are searched by the server if it can', async () => {
    const conformsTo = [classes.core, classes.collectionSearch, classes.freeText];
    const { rig, server } = await setup(paged(conformsTo));
    expect(
      await rig.data('search_collections', {
        q: 'x',
        bbox: [1, 2, 3, 4],
        datetime: '2024',
        limit: 5,
      }),
    ).toMatchObject({ searched: 'server' });
    expect(Object.fromEntries(server.requests.at(-1)!.params)).toEqual({
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
      const { rig } = await setup(paged(conformsTo));
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

  it('end if their list loops', async () => {
    const { rig } = await setup(
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
    const { rig } = await setup(api({ collections }));
    expect(ids(await rig.data('search_collections', { bbox: [179, -18, -179, -17] }))).toEqual([
      'fiji',
    ]);
    expect(ids(await rig.data('search_collections', { datetime: '../2016' }))).toEqual(['alps']);
  });

  it('are shown completely or as selected by fields', async () => {
    const { rig } = await setup(
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

  it('are revalidated with ETags', async () => {
    const { rig, server } = await setup(
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
      server.requests
        .filter(({ path }) => path === '/collections/a')
        .map(({ headers }) => headers['if-none-match']),
    ).toEqual([undefined, '"1"']);
  });
});

const twoCatalogs = async (second: 'works' | 'fails' = 'works') => {
  const one = await serve(api({ collections: [collection('sentinel-2-l2a'), collection('dem')] }));
  const other = await serve(
    second === 'works'
      ? api({ collections: [collection('landsat-c2-l2'), collection('sentinel-1-grd')] })
      : () => ({ status: 403, json: { description: 'no entry' } }),
  );
  const catalogs = { one: { url: one.origin }, other: { url: other.origin } };
  return createRig({ catalogs, defaultCatalog: 'one' });
};

const found = (data: Readonly<Record<string, unknown>>) =>
  (data['collections'] as { id: string; catalog?: string }[]).map(
    ({ id, catalog }) => `${catalog ?? ''}/${id}`,
  );

describe('search_collections with catalog "*"', () => {
  it('merges the results and names the catalogue of each collection', async () => {
    const rig = await twoCatalogs();
    const data = await rig.data('search_collections', { catalog: '*', q: 'sentinel' });
    expect(found(data)).toEqual(['one/sentinel-2-l2a', 'other/sentinel-1-grd']);
    expect(data).toMatchObject({ catalog: '*', matched: 2, searched: 'local', warnings: [] });
    expect(data['catalogs']).toMatchObject([
      { catalog: 'one', ok: true, matched: 1 },
      { catalog: 'other', ok: true, matched: 1 },
    ]);
  });

  it('paginates over all catalogues without repetition', async () => {
    const rig = await twoCatalogs();
    const all: string[] = [];
    let page_token: string | undefined;
    do {
      const answer = await rig.run('search_collections', {
        catalog: '*',
        limit: 1,
        ...(page_token && { page_token }),
      });
      if (!answer.success) throw new Error(JSON.stringify(answer.error));
      all.push(...found(answer.data));
      page_token = answer.meta.pagination?.next_token;
    } while (page_token !== undefined && all.length < 10);
    expect(all.toSorted()).toEqual([
      'one/dem',
      'one/sentinel-2-l2a',
      'other/landsat-c2-l2',
      'other/sentinel-1-grd',
    ]);
  });

  it('reports failed catalogues, and all of them if none responded', async () => {
    const rig = await twoCatalogs('fails');
    const data = await rig.data('search_collections', { catalog: '*', q: 'sentinel' });
    expect(found(data)).toEqual(['one/sentinel-2-l2a']);
    expect(data['matched']).toBeNull();
    expect(data['warnings']).toEqual([
      expect.stringMatching(/^other was not searched: .*no entry/),
    ]);
    expect(data['catalogs']).toMatchObject([
      { ok: true },
      { ok: false, error: { code: 'forbidden' } },
    ]);

    const none = await serve(() => ({ status: 403, json: {} }));
    const catalogs = { a: { url: none.origin }, b: { url: `${none.origin}/b` } };
    const answer = await (
      await createRig({ catalogs })
    ).run('search_collections', { catalog: '*' });
    expect(answer).toMatchObject({
      error: { code: 'forbidden', message: expect.stringMatching(/ a: .* b: /) as unknown },
    });
  });

  it('is rejected by other tools, which name the tool to use', async () => {
    const { rig } = await setup(api());
    const answer = await rig.run('search_items', { catalog: '*' });
    expect(answer).toMatchObject({
      error: {
        code: 'invalid_input',
        message: expect.stringContaining('search_federated') as unknown,
      },
    });
  });
});

describe('an empty result', () => {
  it('names the searched catalogue and suggests what to try', async () => {
    const rig = await twoCatalogs();
    const { warnings } = await rig.data('search_collections', { q: 'landsat' });
    expect(warnings).toEqual([
      expect.stringMatching(
        /^Found no matching collection in one\. Try: .*catalog "\*" \(also other\)/,
      ),
    ]);
    const everywhere = await rig.data('search_collections', { catalog: '*', q: 'nothing' });
    expect(everywhere['warnings']).toEqual([
      expect.stringMatching(/^Found no matching collection in one, other\. Try: use fewer/),
    ]);
  });
});

import { startStacSandbox, type Flavour, type StacSandbox } from '@toolkeel/sandbox';
import { afterEach, describe, expect, it } from 'vitest';
import { api, classes, collection, item, page } from './support/api.js';
import { useHarness } from './support/rig.js';

const { createRig, setup } = useHarness();

const running: StacSandbox[] = [];
afterEach(async () => {
  for (const sandbox of running.splice(0)) await sandbox.close();
});

const open = async (flavour: Flavour) => {
  const sandbox = await startStacSandbox({ scale: 0.05, flavour });
  running.push(sandbox);
  const catalogs = { box: { url: sandbox.url }, files: { url: sandbox.staticUrl } };
  return { sandbox, rig: await createRig({ catalogs, defaultCatalog: 'box' }) };
};

const MISTYPED = { collections: ['sentinel2-l2a'] };
const SUGGESTION = 'box has no collection "sentinel2-l2a". Did you mean "sentinel-2-l2a"';
const flavours: Flavour[] = ['full', 'minimal', 'pgstac', 'earth-search', 'planetary-computer'];

/** The text that an agent reads in a success or a failure. */
const textOf = (answer: object) => JSON.stringify(answer).replaceAll('\\"', '"');

describe.each(flavours)('with the flavour %s', (flavour) => {
  it('an unknown collection id causes suggestions, with one additional request', async () => {
    const { sandbox, rig } = await open(flavour);
    await rig.data('get_root');
    const before = sandbox.log().at(-1)!.id;
    for (const calls of [1, 2]) {
      const text = textOf(await rig.run('search_items', MISTYPED));
      expect(text).toMatch(/"sentinel2-l2a".* Did you mean "sentinel-2-l2a"/);
      const requests = sandbox.log({ after: before });
      expect(requests.filter(({ route }) => route === 'search')).toHaveLength(calls);
      expect(requests.length).toBeLessThanOrEqual(calls + 1);
    }
  });

  it('an unknown property causes suggestions', async () => {
    const { sandbox, rig } = await open(flavour);
    await rig.data('get_root');
    const before = sandbox.log().at(-1)!.id;
    const query = { cloud_cover: { lt: 10 } };
    for (const search of [{ collections: ['sentinel-2-l2a'], query }, { query }]) {
      const text = textOf(await rig.run('search_items', search));
      expect(text).toContain('Did you mean "eo:cloud_cover"');
    }
    const requests = sandbox.log({ after: before }).filter(({ route }) => route !== 'search');
    expect(requests.length).toBeLessThanOrEqual(2);
  });
});

describe('an unknown collection id', () => {
  it('is named by every tool that searches', async () => {
    const { rig } = await open('full');
    for (const tool of ['summarize_search', 'estimate_data_size', 'get_aggregations']) {
      expect({ tool, text: textOf(await rig.run(tool, MISTYPED)) }).toMatchObject({
        text: expect.stringContaining(SUGGESTION) as unknown,
      });
    }
    const federated = await rig.data('search_federated', MISTYPED);
    expect(federated['catalogs']).toMatchObject([
      { catalog: 'box', warnings: [expect.stringContaining(SUGGESTION)] },
      { catalog: 'files', warnings: [expect.stringContaining('"sentinel-2-l2a"')] },
    ]);
  });

  it('causes suggestions of get_collection and get_item', async () => {
    const { rig } = await open('full');
    const error = { code: 'not_found', message: expect.stringContaining(SUGGESTION) as unknown };
    const place = { collection_id: 'sentinel2-l2a' };
    expect(await rig.run('get_collection', place)).toMatchObject({ error });
    expect(await rig.run('get_item', { ...place, item_id: 'a' })).toMatchObject({
      error: { ...error, details: { resource: 'collection' } },
    });
    expect(await rig.run('get_collection', { ...place, catalog: 'files' })).toMatchObject({
      error: { message: expect.stringContaining('Did you mean "sentinel-2-l2a"') as unknown },
    });
    const known = { collection_id: 'sentinel-2-l2a', item_id: 'a' };
    expect(await rig.run('get_item', known)).toMatchObject({
      error: { code: 'not_found', details: { resource: 'item' } },
    });
  });

  it.each([400, 404])('that the catalogue rejects with %d is explained', async (status) => {
    const { rig } = await setup(
      api({
        before: ({ path }) =>
          path === '/search' ? { status, json: { description: 'no such collection' } } : undefined,
      }),
    );
    expect(await rig.run('search_items', { collections: ['scene'] })).toMatchObject({
      error: {
        code: status === 404 ? 'not_found' : 'upstream_rejected',
        message: expect.stringMatching(
          /no such collection.*"scene"\. Did you mean "scenes"\?/,
        ) as unknown,
      },
    });
  });

  it('in a partial list of collections is not reported as missing', async () => {
    const { rig } = await setup(
      api({
        items: [],
        before: ({ path, origin }) =>
          path === '/collections'
            ? {
                json: {
                  collections: [collection('scenes')],
                  links: [{ rel: 'next', href: `${origin}/collections?page=2` }],
                },
              }
            : undefined,
      }),
    );
    const { warnings } = await rig.data('search_items', { collections: ['others'] });
    expect(warnings).toContainEqual(
      '"others" is not among the 1 collections read from test. search_collections finds collection ids.',
    );
  });

  it('does not fail the call if the collections cannot be read', async () => {
    const { rig } = await setup(
      api({
        items: [],
        before: ({ path }) => (path === '/collections' ? { status: 403, json: {} } : undefined),
      }),
    );
    const { warnings } = await rig.data('search_items', { collections: ['scene'] });
    expect(warnings).toEqual(['Found no matching item in test.']);
  });
});

describe('an unknown collection beside one that has items', () => {
  it('is named with a suggestion', async () => {
    const items = [item('a', { collection: 'c1' })];
    const collections = [collection('c1'), collection('sentinel-2-l2a')];
    const { rig } = await setup(api({ items, collections }));
    const found = await rig.data('search_items', { collections: ['c1', 'sentinel-2'] });
    expect(found['items']).toHaveLength(1);
    expect(found['warnings']).toEqual([
      'test has no collection "sentinel-2". Did you mean "sentinel-2-l2a"?',
    ]);
  });

  it('needs no request if each collection has an item', async () => {
    const { rig, server } = await setup(api({ items: [item('a', { collection: 'c1' })] }));
    await rig.data('search_items', { collections: ['c1'] });
    expect(server.requests.map(({ path }) => path)).toEqual(['/', '/search']);
  });
});

describe('a search without unknown names', () => {
  it('needs no request for a diagnosis', async () => {
    const { rig, server } = await setup(api({ items: [] }));
    const found = await rig.data('search_items', { bbox: [1, 2, 3, 4], datetime: '2024' });
    expect(found['warnings']).toEqual(['Found no matching item in test.']);
    await rig.data('search_items', { query: { 'eo:cloud_cover': { lt: 1 } } });
    expect(server.requests.map(({ path }) => path)).toEqual(['/', '/search', '/search']);
  });
});

describe('an unknown property', () => {
  const rigWith = (conformsTo: readonly string[] = []) =>
    setup(api({ conformsTo: [classes.core, classes.search, ...conformsTo] }));

  it('in sortby is named when no returned item has it', async () => {
    const { rig } = await rigWith([classes.sort]);
    const { warnings } = await rig.data('search_items', { sortby: '-cloud_cover' });
    expect(warnings).toEqual([
      'No returned item has the property "cloud_cover". Did you mean "eo:cloud_cover"?',
    ]);
    expect(await rig.data('search_items', { sortby: '-properties.platform,id' })).toMatchObject({
      warnings: [],
    });
  });

  it('in a CQL2 filter is named, as text and as JSON', async () => {
    const rule = [classes.filter, classes.text, classes.json];
    const { rig } = await setup(
      api({
        conformsTo: [classes.core, classes.search, ...rule],
        before: ({ path }) => (path === '/search' ? page([]) : undefined),
      }),
    );
    const json = { op: '<', args: [{ property: 'properties.cloudCover' }, 5] };
    for (const filter of ["cloudCover < 5 AND platform = 'a'", json]) {
      const { warnings } = await rig.data('search_items', { collections: ['scenes'], filter });
      expect(warnings).toContainEqual(
        '"cloudCover" is not a property that test is known to have. Did you mean "eo:cloud_cover"?',
      );
    }
  });

  it('is known when the catalogue summarises it or lists it as queryable', async () => {
    const summaries = { 'shop:price': { minimum: 1, maximum: 2 } };
    const { rig, server } = await setup(
      api({
        items: [],
        collections: [collection('scenes', { summaries })],
        extraLinks: (origin) => [{ rel: 'queryables', href: `${origin}/queryables` }],
        before: ({ path }) =>
          path === '/queryables'
            ? { json: { properties: { 'shop:stock': {}, 'shop:price': {} } } }
            : undefined,
      }),
    );
    const warnings = async (args: object) => (await rig.data('search_items', args))['warnings'];
    const query = (name: string) => ({ query: { [name]: { lt: 1 } } });
    const collections = ['scenes'];
    expect(
      textOf((await warnings({ collections, ...query('shop:price') })) as object),
    ).not.toContain('shop');
    expect(await warnings({ collections, ...query('price') })).toContainEqual(
      expect.stringContaining('Did you mean "shop:price"?'),
    );
    expect(textOf((await warnings(query('shop:stock'))) as object)).not.toContain('shop');
    expect(await warnings(query('stok'))).toContainEqual(
      expect.stringContaining('Did you mean "shop:stock"?'),
    );
    expect(server.requests.filter(({ path }) => path === '/collections')).toHaveLength(1);
  });

  it('is named if the catalogue rejects it, also by get_aggregations', async () => {
    const { rig } = await open('full');
    const search = { collections: ['sentinel-2-l2a'], filter: 'cloud_cover < 10' };
    for (const tool of ['search_items', 'get_aggregations']) {
      const text = textOf(await rig.run(tool, search));
      expect({ tool, text }).toMatchObject({
        text: expect.stringContaining('Did you mean "eo:cloud_cover"') as unknown,
      });
    }
  });

  it('in fields is named by search_items and get_item', async () => {
    const { rig } = await setup(api({ items: [item('a')] }));
    const fields = ['properties.cloud_cover', 'platfrom', 'assets.rod.href', 'properties.platform'];
    const warnings = [
      'No returned item has the field "properties.cloud_cover". Did you mean "properties.eo:cloud_cover"?',
      'No returned item has the field "platfrom". Did you mean "properties.platform"?',
      'No returned item has the field "assets.rod.href". Did you mean "assets.red.href"?',
    ];
    expect(await rig.data('search_items', { fields })).toMatchObject({ warnings });
    const place = { collection_id: 'scenes', item_id: 'a' };
    expect(await rig.data('get_item', { ...place, fields })).toMatchObject({ warnings });
  });
});

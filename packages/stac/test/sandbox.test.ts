import { createServer, type AddressInfo } from 'node:net';
import {
  fastFaults,
  startStacSandbox,
  type FaultKind,
  type Flavour,
  type StacSandbox,
  type StacSandboxOptions,
} from '@toolkeel/sandbox';
import type { PackRig } from '@toolkeel/pack-kit/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { useHarness } from './support/rig.js';

const { createRig } = useHarness();

const running: StacSandbox[] = [];
afterEach(async () => {
  for (const sandbox of running.splice(0)) await sandbox.close();
});

const open = async (options: StacSandboxOptions = {}, config: object = {}) => {
  const sandbox = await startStacSandbox({ scale: 0.1, ...options });
  running.push(sandbox);
  const { signingUrl, assetsUrl, url } = sandbox;
  const box = {
    url,
    trustedOrigins: [new URL(assetsUrl).origin],
    ...(signingUrl && { signing: { tokenUrl: signingUrl } }),
  };
  const catalogs = {
    box,
    files: { url: sandbox.staticUrl },
    hostile: { url: sandbox.hostileUrl },
  };
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
  const rig = await createRig({ catalogs, defaultCatalog: 'box', ...config }, { resolve });
  return { sandbox, rig };
};

const COLLECTION = 'sentinel-2-l2a';
const flavours: Flavour[] = ['full', 'minimal', 'pgstac', 'earth-search', 'planetary-computer'];

const idsIn = (data: Readonly<Record<string, unknown>>, list = 'items') =>
  (data[list] as { id: string }[]).map(({ id }) => id);

const readAll = async (rig: PackRig, args: object) => {
  const ids: string[] = [];
  let token: string | undefined;
  for (let pages = 0; pages < 100; pages++) {
    const envelope = await rig.run('search_items', {
      ...args,
      ...(token && { page_token: token }),
    });
    if (!envelope.success) throw new Error(JSON.stringify(envelope.error));
    ids.push(...idsIn(envelope.data));
    token = envelope.meta.pagination?.next_token;
    if (token === undefined) break;
  }
  return ids;
};

describe('every sandbox flavour', () => {
  const searches = {
    collection: { collections: [COLLECTION] },
    time: { collections: [COLLECTION], datetime: '2020/2021-06' },
    area: { bbox: [170, -60, -170, 60] },
    query: { collections: [COLLECTION], query: { 'eo:cloud_cover': { lt: 30 } } },
  };

  it('returns every item once over all pages, identical across flavours', async () => {
    const { rig: full } = await open();
    const reference = new Map<string, string[]>();
    for (const [name, args] of Object.entries(searches)) {
      reference.set(name, (await readAll(full, { ...args, limit: 100 })).toSorted());
    }
    expect(reference.get('collection')!.length).toBeGreaterThan(100);
    expect(reference.get('area')!.length).toBeGreaterThan(10);
    for (const flavour of flavours) {
      const { rig } = await open({ flavour });
      for (const [name, args] of Object.entries(searches)) {
        const found = await readAll(rig, { ...args, limit: 33 });
        expect({ flavour, name, found: found.toSorted() }).toEqual({
          flavour,
          name,
          found: reference.get(name),
        });
      }
    }
  }, 60_000);

  it.each(flavours)('supports every tool: %s', async (flavour) => {
    const { rig, sandbox } = await open({ flavour });
    const [first] = idsIn(await rig.data('search_items', { collections: [COLLECTION], limit: 1 }));
    expect(await rig.data('get_item', { collection_id: COLLECTION, item_id: first })).toMatchObject(
      { item: { id: first } },
    );
    expect(idsIn(await rig.data('search_collections', { q: 'sentinel' }), 'collections')).toContain(
      COLLECTION,
    );
    expect(await rig.data('get_collection', { collection_id: COLLECTION })).toMatchObject({
      collection: { id: COLLECTION },
    });
    expect(await rig.data('get_aggregations', { collections: [COLLECTION] })).toMatchObject({
      complete: true,
      aggregations: [{ name: 'total_count', value: 180 }, {}, {}, {}, {}, {}],
    });
    expect(await rig.data('summarize_search', { collections: [COLLECTION] })).toMatchObject({
      count: 180,
      complete: true,
    });
    expect(
      await rig.data('search_federated', { catalogs: ['box'], collections: [COLLECTION] }),
    ).toMatchObject({ catalogs: [{ ok: true }] });
    expect(await rig.data('get_root')).toMatchObject({ kind: 'api' });
    expect((await rig.data('get_conformance'))['conforms_to']).not.toEqual([]);
    const canFilter = sandbox.traits.filter.length > 0;
    const expected = canFilter ? 'success' : 'unsupported_by_upstream';
    expect(
      await rig.code('search_items', { collections: [COLLECTION], filter: 'eo:cloud_cover < 10' }),
    ).toBe(expected);
    expect(
      await rig.code('search_items', {
        filter: { op: '<', args: [{ property: 'eo:cloud_cover' }, 10] },
      }),
    ).toBe(expected);
    expect(await rig.code('get_queryables', { collection_id: [COLLECTION] })).toBe(expected);
    const { supports } = await rig.data('get_catalog_capabilities');
    expect(supports).toMatchObject({
      filter: canFilter,
      aggregation: sandbox.traits.aggregation,
      sort: sandbox.traits.sort,
    });
  });

  it('needs at most three requests for a normal call', async () => {
    const { sandbox } = await open({ flavour: 'earth-search' });
    const calls: [string, object][] = [
      ['get_item', { collection_id: COLLECTION, item_id: 'none' }],
      ['get_collection', { collection_id: COLLECTION }],
      ['search_items', {}],
      ['search_collections', { q: 'radar' }],
      ['get_queryables', {}],
      ['get_aggregations', {}],
      ['summarize_search', {}],
      ['search_federated', { catalogs: ['box'] }],
      ['estimate_data_size', { force_metadata_only: true }],
    ];
    for (const [tool, args] of calls) {
      const fresh = await createRig({ catalogs: { box: { url: sandbox.url } } });
      sandbox.clearLog();
      await fresh.run(tool, args);
      expect(sandbox.log().length).toBeLessThanOrEqual(3);
    }
  });
});

describe('sizes', () => {
  it('are exact with HEAD requests, else the range contains the true size', async () => {
    // A seed with which every file of undeclared size answers HEAD.
    const { rig, sandbox } = await open({ seed: 7 });
    const search = { collections: [COLLECTION], limit: 4 };
    const ids = idsIn(await rig.data('search_items', search));
    const facts = ids.flatMap((id) => sandbox.assetFacts(COLLECTION, id));
    const truth = facts.reduce((sum, { bytes }) => sum + bytes, 0);
    const data = await rig.data('estimate_data_size', search);
    expect(data).toMatchObject({
      asset_count: facts.length,
      estimated_size_bytes: truth,
      low_bytes: truth,
      high_bytes: truth,
      coverage: {
        file_size: { assets: facts.filter(({ declaresSize }) => declaresSize).length },
        unknown: { assets: 0 },
      },
    });
    const guessed = await rig.data('estimate_data_size', { ...search, force_metadata_only: true });
    const { unknown } = guessed['coverage'] as Record<string, { assets: number }>;
    expect(guessed['low_bytes']).toBeLessThan(truth);
    if (unknown!.assets === 0) expect(guessed['high_bytes']).toBeGreaterThan(truth);
    else expect(guessed['high_bytes']).toBeNull();
  });

  it('of signed files use a token that is never exposed', async () => {
    const assetsPort = await freePort();
    const assetBase = `http://toolkeelsandbox.blob.core.windows.net:${assetsPort}`;
    const { rig, sandbox } = await open({ flavour: 'planetary-computer', assetsPort, assetBase });
    const envelope = await rig.run('estimate_data_size', { collections: [COLLECTION], limit: 1 });
    expect(envelope).toMatchObject({
      success: true,
      data: { coverage: { file_size: { assets: 0 } } },
    });
    const { head } = (envelope as unknown as { data: { coverage: { head: { assets: number } } } })
      .data.coverage;
    expect(head.assets).toBeGreaterThan(5);
    expect(JSON.stringify(envelope)).not.toContain('sig=');
    expect(sandbox.counts().byRoute).toMatchObject({ sign: 1 });
    const [id] = idsIn(await rig.data('search_items', { collections: [COLLECTION], limit: 1 }));
    const signed = await rig.data('get_item', {
      collection_id: COLLECTION,
      item_id: id,
      sign_assets: true,
    });
    expect(JSON.stringify(signed)).toContain('sig=');
    expect(sandbox.counts().byRoute).toMatchObject({ sign: 1 });
  });
});

describe('static catalogues', () => {
  it('are searched', async () => {
    const { rig } = await open();
    const data = await rig.data('search_items', { catalog: 'files', limit: 5 });
    expect(idsIn(data)).toHaveLength(5);
    expect(
      idsIn(await rig.data('search_collections', { catalog: 'files' }), 'collections').length,
    ).toBeGreaterThan(0);
  });

  it('with dead links, loops and private links end in time', async () => {
    const { rig, sandbox } = await open({}, { toolTimeoutSecs: 4 });
    const envelope = await rig.run('search_items', { catalog: 'hostile', datetime: '1901' });
    expect(envelope.success || envelope.error.code).toBeTruthy();
    expect(sandbox.counts().requests).toBeLessThan(1000);
  });
});

describe('faults', () => {
  const passing: FaultKind[] = [...fastFaults, 'length-too-long', 'html-502'];

  it.each(passing)('%s is retried successfully', async (kind) => {
    const { rig, sandbox } = await open({ faults: [{ kind, times: 1, routes: ['search'] }] });
    expect(await rig.code('search_items', { limit: 1 })).toBe('success');
    expect(sandbox.counts().byFault).toMatchObject({ [kind]: 1 });
  });

  it.each<[FaultKind, string]>([
    ['malformed-json', 'upstream_unavailable'],
    ['html-200', 'upstream_unavailable'],
    ['stall', 'timeout'],
    ['http-501', 'upstream_rejected'],
    ['http-403', 'forbidden'],
    ['http-429', 'rate_limited'],
  ])('permanent %s is %s', async (kind, code) => {
    const faults = [{ kind, routes: ['search'] }];
    const { rig } = await open({ flavour: 'pgstac', faults }, { toolTimeoutSecs: 2 });
    expect(await rig.code('search_items')).toBe(code);
  });

  it('loop-next, empty pages and oversized pages do not fail a search', async () => {
    for (const kind of ['loop-next', 'empty-page', 'too-large-413', 'too-large-502'] as const) {
      const { rig } = await open({
        faults: [
          { kind, routes: ['search'], times: kind === 'empty-page' ? 1 : 3, aboveLimit: 20 },
        ],
      });
      const data = await rig.data('search_items', { collections: [COLLECTION], limit: 50 });
      expect({ kind, some: idsIn(data).length > 0 }).toEqual({ kind, some: true });
    }
  });

  it('in 20 % of requests leave nearly every call successful, with at most three attempts', async () => {
    const { rig, sandbox } = await open({
      seed: 3,
      drawBy: 'request',
      faults: [{ kind: fastFaults, rate: 0.2 }],
    });
    let failed = 0;
    for (let call = 0; call < 120; call++) {
      const code = await rig.code('search_items', { ids: [`none-${call}`], limit: 1 });
      if (code !== 'success') failed++;
    }
    expect(failed).toBeLessThanOrEqual(6);
    const attempts = new Map<string, number>();
    for (const { fingerprint, route } of sandbox.log()) {
      if (route === 'search') attempts.set(fingerprint, (attempts.get(fingerprint) ?? 0) + 1);
    }
    expect(Math.max(...attempts.values())).toBeLessThanOrEqual(3);
  });
});

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });

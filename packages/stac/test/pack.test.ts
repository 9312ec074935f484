import { readdirSync, readFileSync } from 'node:fs';
import type { ToolContext } from '@toolkeel/contract';
import { describe, expect, it } from 'vitest';
import { configSchema, stac } from '../src/index.js';
import { api, item } from './support/api.js';
import { useHarness } from './support/rig.js';

const { setup, createRig, serve } = useHarness();

const context = (): ToolContext => ({
  signal: new AbortController().signal,
  deadline: Infinity,
  correlationId: 'test',
  progress: () => {},
  noteRetry: () => {},
});

describe('the pack', () => {
  it('describes thirteen read-only tools', () => {
    const specs = stac.describe();
    expect(specs.map(({ name }) => name).toSorted()).toEqual([
      'estimate_data_size',
      'get_aggregations',
      'get_catalog_capabilities',
      'get_collection',
      'get_conformance',
      'get_item',
      'get_queryables',
      'get_root',
      'get_sensor_registry_info',
      'search_collections',
      'search_federated',
      'search_items',
      'summarize_search',
    ]);
    for (const { effect, profiles } of specs) {
      expect(effect).toBe('read');
      expect(profiles).toEqual(['readonly', 'api', 'workflow']);
    }
  });

  it('has every tool and configuration key in its README', () => {
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
    for (const { name } of stac.describe()) expect(readme).toContain(`\`${name}\``);
    for (const key of Object.keys(configSchema.shape)) expect(readme).toContain(`\`${key}`);
  });

  it('accepts the argument names of stac-mcp', () => {
    const theirs: Record<string, string[]> = {
      get_root: ['catalog_url'],
      get_conformance: ['catalog_url', 'check'],
      get_sensor_registry_info: [],
      search_collections: ['limit', 'catalog_url'],
      get_collection: ['collection_id', 'catalog_url'],
      get_item: ['collection_id', 'item_id', 'output_format', 'catalog_url', 'sign_assets'],
      search_items: [
        'collections',
        'bbox',
        'datetime',
        'limit',
        'query',
        'output_format',
        'catalog_url',
        'fields',
        'intersects',
        'ids',
        'sortby',
        'sign_assets',
      ],
      estimate_data_size: [
        'collections',
        'bbox',
        'datetime',
        'query',
        'aoi_geojson',
        'limit',
        'force_metadata_only',
        'output_format',
        'catalog_url',
      ],
      get_queryables: ['collection_id', 'catalog_url'],
      get_aggregations: ['collections', 'bbox', 'datetime', 'query', 'catalog_url'],
    };
    for (const [name, names] of Object.entries(theirs)) {
      const spec = stac.describe().find((one) => one.name === name);
      expect(Object.keys(spec!.input.shape)).toEqual(expect.arrayContaining(names));
    }
  });

  it('does not load undici eagerly', () => {
    const folder = new URL('../src/', import.meta.url);
    const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /(?<!\.test)\.ts$/.test(name),
    );
    expect(sources.length).toBeGreaterThan(40);
    for (const name of sources) {
      const text = readFileSync(new URL(name, folder), 'utf8');
      const eager = [...text.matchAll(/^(?:import|export) (?!type)[^;]*?from '(undici)'/gm)];
      expect(eager.map(([, specifier]) => `${name}: ${specifier}`)).toEqual([]);
    }
  });

  it('has collections and items as resources', async () => {
    const { rig } = await setup(api({ items: [item('a b')] }));
    const [collections, items] = rig.instance.resources!;
    expect(
      JSON.parse(await collections!.read('stac://test/collections/scenes', context())),
    ).toMatchObject({ id: 'scenes' });
    expect(
      JSON.parse(await items!.read('stac://test/collections/scenes/items/a%20b', context())),
    ).toMatchObject({ id: 'a b' });
    await expect(
      items!.read('stac://test/collections/scenes/items/none', context()),
    ).rejects.toThrow(/no item/);
    for (const uri of [
      'stac://test/other',
      'stac://none/collections/x',
      'https://x',
      'stac://test/collections/%zz',
      'stac://test/collections/a/items/b',
    ])
      await expect(collections!.read(uri, context())).rejects.toMatchObject({ toolError: {} });
    await expect(collections!.read('stac://none/collections/x', context())).rejects.toMatchObject({
      toolError: { input: { code: 'not_found', message: expect.stringContaining('test') } },
    });
  });

  it('has prompts that name existing tools', async () => {
    const { rig } = await setup(api());
    const names = stac.describe().map(({ name }) => name);
    for (const prompt of rig.instance.prompts!) {
      const text = prompt.render({ place: 'Bern', time: '2024', collection: 'c' });
      const named = [...text.matchAll(/\b(get|search|estimate|summarize)_\w+/g)].map(
        ([name]) => name,
      );
      expect(named.length).toBeGreaterThan(0);
      for (const name of named) expect(names).toContain(name);
    }
  });

  it('reports the health of its catalogues', async () => {
    const good = await serve(api());
    const bad = await serve(() => ({ status: 401, json: {} }));
    const catalogs = { bad: { url: bad.origin }, good: { url: good.origin } };
    const well = await createRig({ catalogs, defaultCatalog: 'good' });
    expect(await well.instance.health()).toEqual({
      ok: true,
      detail: 'bad: unauthorized; good: answers (api)',
      upstreams: [
        {
          name: 'bad',
          ok: false,
          detail: expect.stringMatching(/^127\.0\.0\.1:\d+ fails: unauthorized \(401\)$/),
        },
        {
          name: 'good',
          ok: true,
          detail: expect.stringMatching(/^127\.0\.0\.1:\d+ answers \(api\)$/),
        },
      ],
    });
    const ill = await createRig({ catalogs, defaultCatalog: 'bad' });
    expect((await ill.instance.health()).ok).toBe(false);
  });

  it('shares concurrent health checks', async () => {
    const { rig, server } = await setup(api());
    const { instance } = rig;
    const looks = await Promise.all(Array.from({ length: 20 }, () => instance.health()));
    expect(looks.every(({ ok }) => ok)).toBe(true);
    expect(server.requests).toHaveLength(1);
    await instance.health();
    expect(server.requests).toHaveLength(2);
  });

  it('can be closed twice', async () => {
    const { rig } = await setup(api());
    await rig.data('get_root');
    await rig.close();
    await expect(rig.close()).resolves.toBeUndefined();
  });
});

import { describe, expect, it } from 'vitest';
import { stac } from '../src/index.js';
import { api } from './support/api.js';
import { useHarness } from './support/rig.js';
import { observeCodes, type Reply } from '@toolkeel/pack-kit/testing';

const { setup } = useHarness();

const argsOf: Readonly<Record<string, object>> = {
  get_collection: { collection_id: 'scenes' },
  get_item: { collection_id: 'scenes', item_id: 'a' },
};

const replies: readonly (readonly [Reply, string])[] = [
  [{ status: 503, json: {} }, 'upstream_unavailable'],
  [{ status: 400, json: { description: 'no' } }, 'upstream_rejected'],
  [{ status: 429, json: {}, headers: { 'retry-after': '99' } }, 'rate_limited'],
  [{ status: 401, json: {} }, 'unauthorized'],
  [{ status: 403, json: {} }, 'forbidden'],
  [{ status: 404, json: {} }, 'not_found'],
];

const unsupported: Readonly<Record<string, object>> = {
  search_items: { filter: 'a = 1' },
  get_item: { sign_assets: true },
  get_queryables: {},
  get_aggregations: { filter: 'a = 1' },
  summarize_search: { filter: 'a = 1' },
  estimate_data_size: { filter: 'a = 1' },
  search_federated: { filter: 'a = 1' },
};

describe('error codes', () => {
  it('are exactly those that each tool declares', async () => {
    const { note, verify } = observeCodes(stac.describe());
    // The sensor registry is built in: no upstream can fail it.
    const tools = stac
      .describe()
      .map(({ name }) => name)
      .filter((name) => name !== 'get_sensor_registry_info');
    for (const [reply, code] of replies) {
      const { rig } = await setup(() => reply, { maxRetries: 0 });
      for (const tool of tools) note(tool, await rig.code(tool, argsOf[tool]), code);
    }
    const broken = await setup(() => ({ status: 500, json: {} }), { maxRetries: 0 });
    while ((await broken.rig.code('get_root')) !== 'circuit_open');
    for (const tool of tools) note(tool, await broken.rig.code(tool, argsOf[tool]), 'circuit_open');
    const well = await setup(api());
    for (const tool of tools) {
      const wrong = tool === 'search_federated' ? { catalogs: ['none'] } : { catalog: 'none' };
      note(tool, await well.rig.code(tool, { ...argsOf[tool], ...wrong }), 'invalid_input');
    }
    for (const [tool, args] of Object.entries(unsupported)) {
      note(
        tool,
        await well.rig.code(tool, { ...argsOf[tool], ...args }),
        'unsupported_by_upstream',
      );
    }
    const lone = await setup(({ path }) =>
      path === '/' ? { json: { conformsTo: ['x'], links: [] } } : { status: 404, json: {} },
    );
    note(
      'search_collections',
      await lone.rig.code('search_collections'),
      'unsupported_by_upstream',
    );
    expect(verify).not.toThrow();
  });
});

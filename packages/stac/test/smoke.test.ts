import { afterEach, expect, it } from 'vitest';
import { api } from './support/api.js';
import { createRig } from './support/rig.js';
import { startServer } from './support/server.js';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

it('answers every tool', async () => {
  const server = await startServer(api());
  const rig = await createRig({ catalogs: { test: { url: server.origin } } });
  closing.push(
    () => rig.close(),
    () => server.close(),
  );
  for (const [tool, args] of [
    ['get_root', {}],
    ['get_conformance', { check: ['https://api.stacspec.org/v1.0.0-rc.2/core'] }],
    ['get_catalog_capabilities', {}],
    ['search_items', { collections: ['scenes'] }],
    ['search_collections', { q: 'maps' }],
    ['get_collection', { collection_id: 'scenes' }],
    ['get_item', { collection_id: 'scenes', item_id: 'a' }],
    ['get_aggregations', {}],
    ['summarize_search', {}],
    ['estimate_data_size', { collections: ['scenes'], bbox: [10, 45, 10.5, 46] }],
    ['search_federated', {}],
    ['get_queryables', {}],
  ] as const) {
    const envelope = await rig.run(tool, args);
    console.log(tool, JSON.stringify(envelope));
  }
  expect(server.seen.length).toBeGreaterThan(5);
});

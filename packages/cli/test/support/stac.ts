import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A call of every STAC tool that sends requests to a catalogue. */
export const stacCalls: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  search_items: { limit: 3 },
  search_collections: { q: 'sentinel' },
  get_collection: { collection_id: 'sentinel-2-l2a' },
  get_item: { collection_id: 'sentinel-2-l2a', item_id: 'a' },
  get_queryables: {},
  get_aggregations: { collections: ['sentinel-2-l2a'] },
  summarize_search: { collections: ['sentinel-2-l2a'] },
  estimate_data_size: { collections: ['sentinel-2-l2a'], limit: 3 },
  search_federated: { limit: 3 },
  get_root: {},
  get_conformance: {},
  get_catalog_capabilities: {},
};

/** Configures only these catalogues; the first is the default. */
export function writeStacConfig(
  dir: string,
  catalogs: Readonly<Record<string, object>>,
  more: object = {},
  file = 'toolkeel.config.json',
): void {
  const [defaultCatalog] = Object.keys(catalogs);
  const stac = { catalogs, defaultCatalog, builtinCatalogs: false, ...more };
  writeFileSync(join(dir, file), JSON.stringify({ packs: { stac } }));
}

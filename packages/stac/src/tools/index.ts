import type { Tool } from '@toolkeel/contract';
import type { Client } from '../api/client.js';
import { estimateDataSize } from './estimate-data-size.js';
import { getAggregations } from './get-aggregations.js';
import { getCatalogCapabilities } from './get-catalog-capabilities.js';
import { getCollection } from './get-collection.js';
import { getConformance } from './get-conformance.js';
import { getItem } from './get-item.js';
import { getQueryables } from './get-queryables.js';
import { getRoot } from './get-root.js';
import { getSensorRegistryInfo } from './get-sensor-registry-info.js';
import { searchCollections } from './search-collections.js';
import { searchFederated } from './search-federated.js';
import { searchItems } from './search-items.js';
import { summarizeSearch } from './summarize-search.js';

export function createTools(client: Client): readonly Tool[] {
  return [
    searchItems(client),
    searchCollections(client),
    getCollection(client),
    getItem(client),
    getQueryables(client),
    getAggregations(client),
    summarizeSearch(client),
    estimateDataSize(client),
    searchFederated(client),
    getRoot(client),
    getConformance(client),
    getCatalogCapabilities(client),
    getSensorRegistryInfo(),
  ] as readonly unknown[] as readonly Tool[];
}

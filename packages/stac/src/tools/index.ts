import type { Tool } from '@toolkeel/contract';
import type { Client } from '../api/client.js';
import { estimateDataSize } from './estimate-data-size.js';
import { getAggregations } from './get-aggregations.js';
import { getCatalogCapabilities, getConformance, getRoot, getSensorRegistryInfo } from './catalog.js';
import { getCollectionTool, getItemTool, getQueryables } from './get.js';
import { searchCollections } from './search-collections.js';
import { searchFederated } from './search-federated.js';
import { searchItems } from './search-items.js';
import { summarizeSearch } from './summarize-search.js';

export function createTools(client: Client): readonly Tool[] {
  return [
    searchItems(client),
    searchCollections(client),
    getCollectionTool(client),
    getItemTool(client),
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

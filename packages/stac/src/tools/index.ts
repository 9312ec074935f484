import type { Tool, ToolSpec } from '@toolkeel/contract';
import type { Client } from '../api/client.js';
import { estimateDataSize, estimateDataSizeSpec } from './estimate-data-size.js';
import { getAggregations, getAggregationsSpec } from './get-aggregations.js';
import { getCatalogCapabilities, getCatalogCapabilitiesSpec } from './get-catalog-capabilities.js';
import { getCollection, getCollectionSpec } from './get-collection.js';
import { getConformance, getConformanceSpec } from './get-conformance.js';
import { getItem, getItemSpec } from './get-item.js';
import { getQueryables, getQueryablesSpec } from './get-queryables.js';
import { getRoot, getRootSpec } from './get-root.js';
import { searchCollections, searchCollectionsSpec } from './search-collections.js';
import { searchFederated, searchFederatedSpec } from './search-federated.js';
import { searchItems, searchItemsSpec } from './search-items.js';
import { summarizeSearch, summarizeSearchSpec } from './summarize-search.js';

/** What the tools are, without anything that could run them. */
export const specs: readonly ToolSpec[] = [
  searchItemsSpec,
  searchCollectionsSpec,
  getCollectionSpec,
  getItemSpec,
  getQueryablesSpec,
  getAggregationsSpec,
  summarizeSearchSpec,
  estimateDataSizeSpec,
  searchFederatedSpec,
  getRootSpec,
  getConformanceSpec,
  getCatalogCapabilitiesSpec,
] as readonly unknown[] as readonly ToolSpec[];

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
  ] as readonly unknown[] as readonly Tool[];
}

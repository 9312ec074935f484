import type { Tool } from '@toolkeel/contract';
import type { Client } from '../api/client.js';
import {
  getCatalogCapabilitiesTool,
  getConformanceTool,
  getRootTool,
  getSensorRegistryInfoTool,
} from './catalog.js';
import { estimateDataSizeTool } from './estimate-data-size.js';
import { getAggregationsTool } from './get-aggregations.js';
import { getCollectionTool, getItemTool, getQueryablesTool } from './get.js';
import { searchCollectionsTool } from './search-collections.js';
import { searchFederatedTool } from './search-federated.js';
import { searchItemsTool } from './search-items.js';
import { summarizeSearchTool } from './summarize-search.js';

export function createTools(client: Client): readonly Tool[] {
  return [
    searchItemsTool(client),
    searchCollectionsTool(client),
    getCollectionTool(client),
    getItemTool(client),
    getQueryablesTool(client),
    getAggregationsTool(client),
    summarizeSearchTool(client),
    estimateDataSizeTool(client),
    searchFederatedTool(client),
    getRootTool(client),
    getConformanceTool(client),
    getCatalogCapabilitiesTool(client),
    getSensorRegistryInfoTool(),
  ] as readonly unknown[] as readonly Tool[];
}

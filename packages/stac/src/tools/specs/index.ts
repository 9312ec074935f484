import type { ToolSpec } from '@toolkeel/contract';
import { estimateDataSizeSpec } from './estimate-data-size.js';
import { getAggregationsSpec } from './get-aggregations.js';
import { getCatalogCapabilitiesSpec } from './get-catalog-capabilities.js';
import { getCollectionSpec } from './get-collection.js';
import { getConformanceSpec } from './get-conformance.js';
import { getItemSpec } from './get-item.js';
import { getQueryablesSpec } from './get-queryables.js';
import { getRootSpec } from './get-root.js';
import { getSensorRegistryInfoSpec } from './get-sensor-registry-info.js';
import { searchCollectionsSpec } from './search-collections.js';
import { searchFederatedSpec } from './search-federated.js';
import { searchItemsSpec } from './search-items.js';
import { summarizeSearchSpec } from './summarize-search.js';

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
  getSensorRegistryInfoSpec,
] as readonly unknown[] as readonly ToolSpec[];

import type { ToolSpec } from '@toolkeel/contract';
import { estimateDataSizeSpec, getAggregationsSpec, summarizeSearchSpec } from './aggregate.js';
import {
  getCatalogCapabilitiesSpec,
  getConformanceSpec,
  getRootSpec,
  getSensorRegistryInfoSpec,
} from './catalog.js';
import { getCollectionSpec, getItemSpec, getQueryablesSpec } from './get.js';
import { searchCollectionsSpec, searchFederatedSpec, searchItemsSpec } from './search.js';

/** The tool specs, loaded without the handlers. */
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

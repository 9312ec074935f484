import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import {
  assets,
  catalogArguments,
  catalogCodes,
  fields,
  id,
  idList,
  outputFormat,
  readTraits,
  signAssets,
} from './common.js';

export const getCollectionSpec = specifyTool({
  ...readTraits,
  name: 'get_collection',
  title: 'One collection',
  description:
    'Reads one collection: its content, extent in space and time, licence and providers. output_format "json" adds all else.',
  input: z.object({
    collection_id: id,
    fields,
    output_format: outputFormat,
    ...catalogArguments,
  }),
  output: z.object({
    catalog: z.string(),
    collection: z.looseObject({ id: z.string() }),
  }),
  errors: catalogCodes,
});

export const getItemSpec = specifyTool({
  ...readTraits,
  name: 'get_item',
  title: 'One item',
  description:
    'Reads one item of a collection: its properties, its footprint and the URLs of its assets.',
  input: z.object({
    collection_id: id,
    item_id: id,
    fields,
    assets,
    sign_assets: signAssets,
    output_format: outputFormat,
    ...catalogArguments,
  }),
  output: z.object({
    catalog: z.string(),
    item: z.looseObject({ id: z.string() }),
    warnings: z.array(z.string()),
  }),
  errors: [...catalogCodes, 'unsupported_by_upstream'],
});

export const queryable = z.object({
  name: z.string(),
  type: z.string().optional(),
  title: z.string().optional(),
  description: z.string().optional(),
  enum: z.array(z.unknown()).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  format: z.string().optional(),
  ref: z.string().optional(),
  collections: z.array(z.string()).optional(),
});

export const getQueryablesSpec = specifyTool({
  ...readTraits,
  name: 'get_queryables',
  title: 'Queryable properties',
  description:
    'Lists the properties that items can be filtered by, with types and allowed values: of the whole catalogue, or of one or more collections.',
  input: z.object({
    collection_id: idList.optional().describe('One collection id or several.'),
    output_format: outputFormat,
    ...catalogArguments,
  }),
  output: z.object({
    catalog: z.string(),
    collections: z.array(z.string()),
    properties: z.array(queryable),
    additional_properties: z.boolean().describe('Whether filters may use other names.'),
  }),
  errors: [...catalogCodes, 'unsupported_by_upstream'],
});

import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import { catalogCodes } from '../../codes.js';
import { catalogArguments, idList, outputFormat } from './arguments.js';
import { readTraits } from './traits.js';

export const property = z.object({
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
    'Lists the properties that items can be filtered by, with their types and allowed values: of the whole catalogue, or of one or more collections.',
  input: z.object({
    collection_id: idList.optional().describe('One collection id or several.'),
    output_format: outputFormat,
    ...catalogArguments,
  }),
  output: z.object({
    catalog: z.string(),
    collections: z.array(z.string()),
    properties: z.array(property),
    additional_properties: z
      .boolean()
      .describe('Whether other names may be used too; if not, they are refused.'),
  }),
  errors: [...catalogCodes, 'unsupported_by_upstream'],
});

import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import { catalogCodes } from '../../codes.js';
import { anyOutputFormat, catalogArguments } from './arguments.js';
import { readTraits } from './traits.js';

export const getCatalogCapabilitiesSpec = specifyTool({
  ...readTraits,
  name: 'get_catalog_capabilities',
  title: 'Catalogue capabilities',
  description:
    'Says what a catalogue can be asked for: how it searches, sorts and filters (query, CQL2), whether it has queryables, aggregations and a search for collections, and what is done here instead where it has not.',
  input: z.object({ output_format: anyOutputFormat, ...catalogArguments }),
  output: z.object({
    catalog: z.string(),
    url: z.string(),
    kind: z.enum(['api', 'static']),
    stac_version: z.string().optional(),
    search: z.object({
      available: z.boolean(),
      methods: z.array(z.enum(['GET', 'POST'])),
    }),
    supports: z.record(z.string(), z.boolean()),
    instead: z.array(z.string()),
    configured_catalogs: z.array(z.string()),
    warnings: z.array(z.string()),
  }),
  errors: catalogCodes,
});

import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import {
  anyOutputFormat,
  catalogArguments,
  catalogCodes,
  idList,
  outputFormat,
  readTraits,
} from './common.js';

export const getRootSpec = specifyTool({
  ...readTraits,
  name: 'get_root',
  title: 'Catalogue root',
  description:
    'Reads the landing page of a STAC catalogue: its title, description, STAC version, number of links and children.',
  input: z.object({ output_format: outputFormat, ...catalogArguments }),
  output: z.object({
    catalog: z.string(),
    url: z.string(),
    id: z.string().optional(),
    title: z.string().optional(),
    description: z.string().optional(),
    stac_version: z.string().optional(),
    kind: z.enum(['api', 'static']),
    links_count: z.int(),
    conformance_count: z.int(),
    children: z.array(z.object({ title: z.string().optional(), href: z.string() })),
    document: z
      .looseObject({})
      .optional()
      .describe('With output_format "json": the landing page without its links.'),
    warnings: z.array(z.string()),
  }),
  errors: catalogCodes,
});

export const getConformanceSpec = specifyTool({
  ...readTraits,
  name: 'get_conformance',
  title: 'Conformance classes',
  description: 'Lists the conformance classes of a STAC API, and checks given ones in any version.',
  input: z.object({
    check: idList.optional().describe('Conformance URIs to check.'),
    output_format: anyOutputFormat,
    ...catalogArguments,
  }),
  output: z.object({
    catalog: z.string(),
    conforms_to: z.array(z.string()),
    checks: z.array(z.object({ uri: z.string(), conforms: z.boolean() })).optional(),
  }),
  errors: catalogCodes,
});

export const getCatalogCapabilitiesSpec = specifyTool({
  ...readTraits,
  name: 'get_catalog_capabilities',
  title: 'Catalogue capabilities',
  description:
    'Lists the capabilities of a catalogue: search, sorting, filters (query, CQL2), queryables, aggregations, collection search, and how missing ones are replaced.',
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

export const getSensorRegistryInfoSpec = specifyTool({
  ...readTraits,
  name: 'get_sensor_registry_info',
  title: 'Sensor registry',
  description:
    'Lists the collections whose raster data types are built in. estimate_data_size uses them for items that omit data types. Sends no request.',
  input: z.object({ output_format: anyOutputFormat }),
  output: z.object({
    count: z.int(),
    sensors: z.array(
      z.object({
        collection: z.string().describe('The collection id, in any case.'),
        data_type: z.string(),
        assets: z
          .record(z.string(), z.string())
          .optional()
          .describe('Assets with another data type, by key in any case.'),
      }),
    ),
  }),
  errors: [],
});

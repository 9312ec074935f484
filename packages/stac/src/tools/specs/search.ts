import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import { cursorSchema, federatedCursorSchema } from '../../search/cursor.js';
import {
  assets,
  catalogArguments,
  catalogCodes,
  fields,
  idList,
  limit,
  outputFormat,
  pageToken,
  readTraits,
  searchArguments,
  signAssets,
  sortby,
} from './common.js';

export const searchItemsSpec = specifyTool({
  ...readTraits,
  name: 'search_items',
  description:
    'Searches a STAC catalogue for items (scenes, tiles, datasets) by collection, area, time and properties. Returns the essentials of each; `assets` adds asset URLs, `fields` more.',
  input: z.object({
    ...searchArguments,
    sortby,
    fields,
    assets,
    limit: limit(10_000),
    sign_assets: signAssets,
    output_format: outputFormat,
    page_token: pageToken,
    ...catalogArguments,
  }),
  output: z.object({
    catalog: z.string(),
    items: z.array(z.looseObject({ id: z.string() })),
    matched: z.int().nullable().describe('Total number of matches; null if unknown.'),
    warnings: z.array(z.string()),
  }),
  errors: [...catalogCodes, 'unsupported_by_upstream'],
  paging: { token: 'page_token', cursor: cursorSchema, items: 'items', unbound: ['limit'] },
});

/** The result of one of several catalogues. */
const catalogReport = z.object({
  catalog: z.string(),
  ok: z.boolean(),
  matched: z.int().nullable(),
  warnings: z.array(z.string()),
  error: z.object({ code: z.string(), message: z.string(), retryable: z.boolean() }).optional(),
});

export const searchFederatedSpec = specifyTool({
  ...readTraits,
  name: 'search_federated',
  title: 'Search several catalogues',
  description:
    'Searches several catalogues at once and merges the items by `sortby`, default newest first. A slow or failed catalogue does not delay the others; the result reports it with the reason.',
  input: z.object({
    catalogs: idList
      .optional()
      .describe('Names of configured ones, or URLs of public ones. Default: all configured.'),
    ...searchArguments,
    sortby,
    fields,
    limit: limit(100).describe('Per catalogue. Default: 10.'),
    output_format: outputFormat,
    page_token: pageToken,
  }),
  output: z.object({
    items: z.array(z.looseObject({ id: z.string(), catalog: z.string() })),
    catalogs: z.array(catalogReport),
  }),
  errors: [...catalogCodes, 'unsupported_by_upstream'],
  paging: {
    token: 'page_token',
    cursor: federatedCursorSchema,
    items: 'items',
    unbound: ['limit'],
  },
});

const cursor = z.union([cursorSchema, federatedCursorSchema]);

export const searchCollectionsSpec = specifyTool({
  ...readTraits,
  name: 'search_collections',
  description:
    'Searches collections by words, area and time (locally if the catalogue cannot), or lists them all. Start here if you do not know a collection id.',
  input: z.object({
    q: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .describe('Words in id, title, keywords or description; commas separate alternatives.'),
    bbox: searchArguments.bbox,
    datetime: searchArguments.datetime,
    limit: limit(10_000).describe('Per catalogue. Default: 10.'),
    fields,
    output_format: outputFormat,
    page_token: pageToken,
    ...catalogArguments,
    catalog: catalogArguments.catalog.describe('A configured catalogue, or "*" for all.'),
  }),
  output: z.object({
    catalog: z
      .string()
      .describe('"*" if all were searched; each collection then has its own `catalog`.'),
    collections: z.array(z.looseObject({ id: z.string() })),
    matched: z.int().nullable().describe('Total number of matches; null if unknown.'),
    searched: z
      .enum(['server', 'local', 'list', 'mixed'])
      .describe('Whether the catalogue searched, or the collections were searched locally.'),
    catalogs: z
      .array(catalogReport)
      .optional()
      .describe('The result of each catalogue, if all were searched.'),
    warnings: z.array(z.string()),
  }),
  errors: [...catalogCodes, 'unsupported_by_upstream'],
  paging: { token: 'page_token', cursor, items: 'collections', unbound: ['limit'] },
});

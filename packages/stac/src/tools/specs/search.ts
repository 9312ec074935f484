import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import { assets, catalogArguments, catalogCodes, fields, idList, limit, outputFormat, pageToken, readTraits, searchArguments, signAssets, sortby } from './common.js';
import { cursorSchema, federatedCursorSchema } from '../../search/cursor.js';

export const searchItemsSpec = specifyTool({
  ...readTraits,
  name: 'search_items',
  title: 'Search items',
  description:
    'Searches a STAC catalogue for items (scenes, tiles, datasets) by collection, area, time and properties. Answers with the essentials of each item, such as its thumbnail; `assets` adds asset URLs, output_format "json" or `fields` more.',
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
    matched: z
      .int()
      .nullable()
      .describe('How many there are in all; null if the catalogue does not say.'),
    warnings: z.array(z.string()),
  }),
  errors: [...catalogCodes, 'unsupported_by_upstream'],
  paging: { token: 'page_token', cursor: cursorSchema, items: 'items', unbound: ['limit'] },
});

/** How one of several catalogues answered. */
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
    'Puts one search to several catalogues at once and merges what they find, by `sortby` or else newest first. A catalogue that fails or is slow does not hold up the others: the answer says which one, and why.',
  input: z.object({
    catalogs: idList
      .optional()
      .describe('Names of configured catalogues, or URLs of public ones. Default: all configured.'),
    ...searchArguments,
    sortby,
    fields,
    limit: limit(100).describe('How many at most from each catalogue. Default: 10.'),
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
  title: 'Search collections',
  description:
    'Finds collections by words, area and time, or lists them all. Where the catalogue cannot search, all its collections are looked through here. Begin with this when you do not know a collection id.',
  input: z.object({
    q: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .describe(
        'Words to look for in id, title, keywords and description; commas separate alternatives.',
      ),
    bbox: searchArguments.bbox,
    datetime: searchArguments.datetime,
    limit: limit(10_000).describe('How many at most from each catalogue. Default: 10.'),
    fields,
    output_format: outputFormat,
    page_token: pageToken,
    ...catalogArguments,
    catalog: catalogArguments.catalog.describe(
      'The name of a configured catalogue, or "*" to search all of them. Default: the default one.',
    ),
  }),
  output: z.object({
    catalog: z.string().describe('"*" if all were searched; each collection then names its own.'),
    collections: z.array(z.looseObject({ id: z.string() })),
    matched: z.int().nullable().describe('How many match in all, where that is known.'),
    searched: z
      .enum(['server', 'local', 'list', 'mixed'])
      .describe('Who searched: the catalogue, or we, through all its collections.'),
    catalogs: z
      .array(catalogReport)
      .optional()
      .describe('What became of each catalogue, if all were searched.'),
    warnings: z.array(z.string()),
  }),
  errors: [...catalogCodes, 'unsupported_by_upstream'],
  paging: { token: 'page_token', cursor, items: 'collections', unbound: ['limit'] },
});

import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import { catalogCodes } from '../../codes.js';
import { cursorSchema, federatedCursorSchema } from '../../search/cursor.js';
import {
  catalogArguments,
  fields,
  limit,
  outputFormat,
  pageToken,
  searchArguments,
} from './arguments.js';
import { catalogReport } from './search-federated.js';
import { readTraits } from './traits.js';

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

import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import { catalogCodes } from '../../codes.js';
import { cursorSchema } from '../../search/cursor.js';
import {
  catalogArguments,
  fields,
  limit,
  outputFormat,
  pageToken,
  searchArguments,
} from './arguments.js';
import { readTraits } from './traits.js';

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
    limit: limit(10_000),
    fields,
    output_format: outputFormat,
    page_token: pageToken,
    ...catalogArguments,
  }),
  output: z.object({
    catalog: z.string(),
    collections: z.array(z.looseObject({ id: z.string() })),
    matched: z.int().nullable().describe('How many match in all, where that is known.'),
    searched: z
      .enum(['server', 'local', 'list'])
      .describe('Who searched: the catalogue, or we, through all its collections.'),
    warnings: z.array(z.string()),
  }),
  errors: [...catalogCodes, 'unsupported_by_upstream'],
  paging: { token: 'page_token', cursor: cursorSchema, items: 'collections', unbound: ['limit'] },
});

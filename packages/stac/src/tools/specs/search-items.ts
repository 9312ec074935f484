import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import { catalogCodes } from '../../codes.js';
import { cursorSchema } from '../../search/cursor.js';
import {
  assets,
  catalogArguments,
  fields,
  limit,
  outputFormat,
  pageToken,
  searchArguments,
  signAssets,
  sortby,
} from './arguments.js';
import { readTraits } from './traits.js';

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

import { page, specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import type { Client } from '../api/client.js';
import { catalogCodes } from '../faults.js';
import type { Doc } from '../json.js';
import { readCriteria } from '../search/criteria.js';
import { cursorSchema } from '../search/cursor.js';
import { project, type Fields } from '../search/fields.js';
import { searchItems as search } from '../search/search.js';
import {
  catalogArguments,
  fields,
  limit,
  outputFormat,
  pageToken,
  searchArguments,
  signAssets,
  sortby,
} from './arguments.js';
import { needSigning } from './get-item.js';
import { itemSummary } from './summaries.js';
import { catalogTool, readTraits } from './tool.js';

export const searchItemsSpec = specifyTool({
  ...readTraits,
  name: 'search_items',
  title: 'Search items',
  description:
    'Searches a STAC catalogue for items (scenes, tiles, datasets) by collection, area, time and properties. Answers with the essentials of each item; ask with output_format "json" or `fields` for more, with page_token for the next page.',
  input: z.object({
    ...searchArguments,
    sortby,
    fields,
    limit: limit(500),
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

export const searchItems = (client: Client) =>
  catalogTool(searchItemsSpec, client, async (args, { scope, cursor }) => {
    const catalog = client.catalogs.choose(args);
    if (args.sign_assets) needSigning(catalog);
    const criteria = readCriteria(args);
    const found = await search(client, catalog, criteria, { limit: args.limit, cursor }, scope);
    const items = args.sign_assets
      ? await client.signer.signItems(catalog, found.items, scope)
      : found.items;
    const data = {
      catalog: catalog.name,
      items: items.map((item) => shownItem(item, args.output_format, criteria.fields)),
      matched: found.matched ?? null,
      warnings: [...found.warnings],
    };
    return page(data, { next: found.next, after: found.after });
  });

/** An item as much of it as was asked for. */
export function shownItem(
  item: Doc,
  format: 'text' | 'json',
  wanted: Fields | undefined,
): Doc & { readonly id: string } {
  const isBrief = format === 'text' && wanted === undefined;
  const shown = isBrief ? itemSummary(item) : project(item, wanted);
  return { ...shown, id: String(item['id']) };
}

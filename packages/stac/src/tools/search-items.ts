import { page } from '@toolkeel/contract';
import type { Client } from '../api/client.js';
import type { Doc } from '../json.js';
import { readCriteria } from '../search/criteria.js';
import { project, type Fields } from '../search/fields.js';
import { searchItems as search } from '../search/search.js';
import { needSigning } from './get-item.js';
import { itemSummary } from './summaries.js';
import { catalogTool } from './tool.js';
import { searchItemsSpec } from './specs/search-items.js';

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

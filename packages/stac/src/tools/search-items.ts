import { page } from '@toolkeel/contract';
import type { Client } from '../api/client.js';
import type { Doc } from '../json.js';
import { readCriteria } from '../search/criteria.js';
import { collectItems, PAGE_SIZE } from '../search/collect.js';
import { project, type Fields } from '../search/fields.js';
import { searchItems as search } from '../search/search.js';
import { needSigning } from './get-item.js';
import { itemSummary } from './summaries.js';
import { catalogTool } from './tool.js';
import { searchItemsSpec } from './specs/search-items.js';

/** The share of the remaining time that pages after the first may take. */
const SHARE_OF_TIME = 0.7;
/** More than this is not delivered at once by common byte budgets, so that it is not read ahead. */
const READ_AHEAD_BYTES = 131_072;

const isFull = (show: (item: Doc) => Doc) => (items: readonly Doc[]) =>
  items.reduce((sum, item) => sum + JSON.stringify(show(item)).length, 0) > READ_AHEAD_BYTES;

export const searchItems = (client: Client) =>
  catalogTool(searchItemsSpec, client, async (args, { scope, cursor }) => {
    const catalog = client.catalogs.choose(args);
    if (args.sign_assets) needSigning(catalog);
    const criteria = readCriteria(args);
    const show = (item: Doc) => shownItem(item, args.output_format, criteria.fields);
    const options = { limit: args.limit, cursor, shareOfTime: SHARE_OF_TIME, isFull: isFull(show) };
    const found =
      args.limit > PAGE_SIZE
        ? await collectItems(client, catalog, criteria, options, scope)
        : await search(client, catalog, criteria, options, scope);
    const items = args.sign_assets
      ? await client.signer.signItems(catalog, found.items, scope)
      : found.items;
    const data = {
      catalog: catalog.name,
      items: items.map(show),
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

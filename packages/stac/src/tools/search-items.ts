import { page } from '@toolkeel/contract';
import type { Client } from '../api/client.js';
import type { Doc } from '../json.js';
import { readCriteria } from '../search/criteria.js';
import { collectItems, PAGE_SIZE } from '../search/collect.js';
import { project, readFields, type Fields } from '../search/fields.js';
import { unseenFields } from '../search/diagnose.js';
import { searchItems as search } from '../search/search.js';
import { oneLine } from '../text.js';
import {
  ALL_ASSETS,
  assetWarnings,
  needSigning,
  signedItems,
  unsignedWarning,
  withAssets,
  withOnly,
} from './assets.js';
import { itemSummary } from './summaries.js';
import { catalogTool } from './tool.js';
import { searchItemsSpec } from './specs/search.js';

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
    const isBrief = args.output_format === 'text' && args.fields === undefined;
    // Signed URLs that the answer does not show would be of no use.
    const wanted = args.assets ?? (args.sign_assets && isBrief ? [ALL_ASSETS] : undefined);
    const fields = readFields(args.fields);
    const criteria = readCriteria({ ...args, fields: wanted ? withAssets(fields) : fields });
    const show = (item: Doc) => shownItem(item, args.output_format, criteria.fields, wanted);
    const options = { limit: args.limit, cursor, shareOfTime: SHARE_OF_TIME, isFull: isFull(show) };
    const found =
      args.limit > PAGE_SIZE
        ? await collectItems(client, catalog, criteria, options, scope)
        : await search(client, catalog, criteria, options, scope);
    const items = args.sign_assets
      ? await signedItems(client, catalog, found.items, wanted, scope)
      : found.items;
    const shown = items.map(show);
    const data = {
      catalog: catalog.name,
      items: shown,
      matched: found.matched ?? null,
      warnings: [
        ...found.warnings,
        ...(cursor || items.length > 0 || found.endsEarly
          ? []
          : [emptyWarning(catalog.name, client.catalogs.names)]),
        ...unseenFields(found.items, fields),
        ...assetWarnings(found.items, args.assets ?? []),
        ...(args.sign_assets ? unsignedWarning(shown) : []),
      ],
    };
    return page(data, { next: found.next, after: found.after });
  });

/** An empty answer says where the search looked and what to try. */
function emptyWarning(name: string, configured: readonly string[]): string {
  const others = configured.filter((one) => one !== name);
  const hint =
    others.length > 0 ? ` search_federated also searches ${others.slice(0, 8).join(', ')}.` : '';
  return `Found no matching item in ${oneLine(name, 200)}.${hint}`;
}

/** As much of an item as the call requests. */
export function shownItem(
  item: Doc,
  format: 'text' | 'json',
  fields: Fields | undefined,
  wanted?: readonly string[],
): Doc & { readonly id: string } {
  const isBrief = format === 'text' && fields === undefined;
  const shown = isBrief ? itemSummary(item, wanted) : project(withOnly(item, wanted), fields);
  return { ...shown, id: String(item['id']) };
}

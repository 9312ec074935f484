import { page } from '@toolkeel/contract';
import { oneLine, type JsonObject } from '@toolkeel/pack-kit';
import type { Client } from '../api/client.js';
import { collectItems, PAGE_SIZE } from '../search/collect.js';
import { parseCriteria } from '../search/criteria.js';
import { unseenFields } from '../search/diagnose.js';
import { parseFields, project, type Fields } from '../search/fields.js';
import { searchItems } from '../search/search.js';
import {
  ALL_ASSETS,
  assetWarnings,
  includeAssets,
  requireSigning,
  signItems,
  unsignedWarning,
  withSelectedAssets,
} from './assets.js';
import { searchItemsSpec } from './specs/search.js';
import { itemSummary } from './summaries.js';
import { catalogTool } from './tool.js';

/** The share of the remaining time that pages after the first may take. */
const SHARE_OF_TIME = 0.7;
/** Common byte budgets do not deliver more at once, so further pages are not read ahead. */
const READ_AHEAD_BYTES = 131_072;

const isFull = (show: (item: JsonObject) => JsonObject) => (items: readonly JsonObject[]) =>
  items.reduce((sum, item) => sum + JSON.stringify(show(item)).length, 0) > READ_AHEAD_BYTES;

export const searchItemsTool = (client: Client) =>
  catalogTool(searchItemsSpec, client, async (args, { cursor, select }) => {
    const call = select();
    const { catalog } = call;
    if (args.sign_assets) requireSigning(catalog);
    const isBrief = args.output_format === 'text' && args.fields === undefined;
    // The brief format shows no asset URLs by default, so signing adds all of them.
    const wanted = args.assets ?? (args.sign_assets && isBrief ? [ALL_ASSETS] : undefined);
    const fields = parseFields(args.fields);
    const criteria = parseCriteria({ ...args, fields: wanted ? includeAssets(fields) : fields });
    const show = (item: JsonObject) => shownItem(item, args.output_format, criteria.fields, wanted);
    const options = { limit: args.limit, cursor, shareOfTime: SHARE_OF_TIME, isFull: isFull(show) };
    const found =
      args.limit > PAGE_SIZE
        ? await collectItems(call, criteria, options)
        : await searchItems(call, criteria, options);
    const items = args.sign_assets ? await signItems(call, found.items, wanted) : found.items;
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

/** Names the searched catalogue and suggests what to try. */
function emptyWarning(name: string, configured: readonly string[]): string {
  const others = configured.filter((other) => other !== name);
  const hint =
    others.length > 0 ? ` search_federated also searches ${others.slice(0, 8).join(', ')}.` : '';
  return `Found no matching item in ${oneLine(name, 200)}.${hint}`;
}

/** The parts of an item that the call requests. */
export function shownItem(
  item: JsonObject,
  format: 'text' | 'json',
  fields: Fields | undefined,
  wanted?: readonly string[],
): JsonObject & { readonly id: string } {
  const isBrief = format === 'text' && fields === undefined;
  const shown = isBrief
    ? itemSummary(item, wanted)
    : project(withSelectedAssets(item, wanted), fields);
  return { ...shown, id: String(item['id']) };
}

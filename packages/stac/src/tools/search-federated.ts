import { page } from '@toolkeel/contract';
import type { Client } from '../api/client.js';
import { invalid, parseCriteria } from '../search/criteria.js';
import type { FederatedCursor } from '../search/cursor.js';
import { searchItems } from '../search/search.js';
import { orderOf } from '../search/sort.js';
import {
  cursorFor,
  mergedItems,
  reportFor,
  resumeSearches,
  searchAll,
  throwIfAllFailed,
  type CatalogSearch,
} from './federation.js';
import { shownItem } from './search-items.js';
import { searchFederatedSpec } from './specs/search.js';
import { catalogTool } from './tool.js';

const MAX_CATALOGS = 8;

export const searchFederatedTool = (client: Client) =>
  catalogTool(searchFederatedSpec, client, async (args, { context, cursor: from }) => {
    const criteria = parseCriteria(args);
    const searches = searchesFor(client, args.catalogs, from);
    const settled = await searchAll(client, searches, context, (call, cursor) =>
      searchItems(call, criteria, { limit: args.limit, cursor }),
    );
    throwIfAllFailed(searches, settled);

    const order = orderOf(criteria.sortby);
    const merged = mergedItems(settled, order);
    const data = {
      items: merged.map(({ item, search }) => ({
        ...shownItem(item, args.output_format, criteria.fields),
        catalog: searches[search]!.catalog.name,
      })),
      catalogs: searches.map(({ catalog }, index) => reportFor(catalog, settled[index]!, order)),
    };
    const after = (kept: number) => cursorFor(searches, settled, merged.slice(0, kept));
    const next = after(merged.length);
    return page(data, { next: next.at.length > 0 ? next : undefined, after });
  });

function searchesFor(
  client: Client,
  wanted: readonly string[] | undefined,
  from: FederatedCursor | undefined,
): readonly CatalogSearch[] {
  const names = [...new Set(wanted ?? client.catalogs.names)];
  if (names.length > MAX_CATALOGS) invalid('catalogs', `names more than ${MAX_CATALOGS}`);
  const isUrl = (name: string) => /^https?:/i.test(name);
  const catalogs = names.map((name) =>
    isUrl(name) && URL.canParse(name) ? client.catalogs.byUrl(name) : client.catalogs.byName(name),
  );
  return resumeSearches(catalogs, from);
}

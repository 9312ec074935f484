import { page } from '@toolkeel/contract';
import type { CallContext, JsonObject } from '@toolkeel/pack-kit';
import type { Client } from '../api/client.js';
import { scoreOf, searchCollections, type CollectionQuery } from '../search/collections.js';
import { latestWarning, parseCriteria } from '../search/criteria.js';
import type { FederatedCursor } from '../search/cursor.js';
import { parseFields, project } from '../search/fields.js';
import {
  cursorFor,
  mergedItems,
  reportFor,
  resumeSearches,
  searchAll,
  throwIfAllFailed,
} from './federation.js';
import { searchCollectionsSpec } from './specs/search.js';
import { collectionSummary, withoutLinks } from './summaries.js';
import { catalogTool } from './tool.js';

/** The value of `catalog` that selects all configured catalogues. */
const ALL_CATALOGS = '*';

export const searchCollectionsTool = (client: Client) =>
  catalogTool(searchCollectionsSpec, client, async (args, { context, cursor, select }) => {
    const { bbox, datetime, q } = args;
    const query: CollectionQuery = { ...parseCriteria({ bbox, datetime }), q, limit: args.limit };
    const isBrief = args.output_format === 'text' && args.fields === undefined;
    const show = (collection: JsonObject) => ({
      ...(isBrief
        ? collectionSummary(collection)
        : project(withoutLinks(collection), parseFields(args.fields))),
      id: String(collection['id']),
    });
    const isFederated = cursor !== undefined && 'at' in cursor;
    if (args.catalog === ALL_CATALOGS && args.catalog_url === undefined) {
      const from = isFederated ? cursor : undefined;
      return searchAllCatalogs(client, query, from, context, {
        show,
        notes: latestWarning(datetime),
      });
    }
    const call = select();
    const { catalog } = call;
    const from = isFederated ? undefined : cursor;
    const list = await searchCollections(call, query, from);
    const isEmpty = !cursor && list.items.length === 0;
    const data = {
      catalog: catalog.name,
      collections: list.items.map(show),
      matched: list.matched,
      searched: list.searched,
      warnings: [
        ...list.warnings,
        ...latestWarning(datetime),
        ...(isEmpty ? [emptyWarning([catalog.name], client.catalogs.names, query)] : []),
      ],
    };
    return page(data, { next: list.next, after: list.after });
  });

/** Searches all configured catalogues and merges the results, best matches first. */
async function searchAllCatalogs(
  client: Client,
  query: CollectionQuery,
  from: FederatedCursor | undefined,
  context: CallContext,
  output: {
    readonly show: (collection: JsonObject) => JsonObject & { readonly id: string };
    readonly notes: readonly string[];
  },
) {
  const searches = resumeSearches(client.catalogs.all, from);
  const settled = await searchAll(client, searches, context, (call, cursor) =>
    searchCollections(call, query, cursor),
  );
  const catalogs = searches.map(({ catalog }, index) =>
    reportFor(catalog, settled[index]!, () => 0),
  );
  throwIfAllFailed(searches, settled);
  const results = settled.flatMap((result) => (result.ok === true ? [result.value] : []));
  const merged = mergedItems(settled, (a, b) => scoreOf(b, query.q) - scoreOf(a, query.q));
  const counts = results.map(({ matched }) => matched);
  const isKnown = results.length === searches.length && !counts.includes(null);
  const kinds = [...new Set(results.map(({ searched }) => searched))];
  const answered = catalogs.filter(({ ok }) => ok).map(({ catalog }) => catalog);
  const data = {
    catalog: ALL_CATALOGS,
    collections: merged.map(({ item, search }) => ({
      ...output.show(item),
      catalog: searches[search]!.catalog.name,
    })),
    matched: isKnown ? counts.reduce((sum: number, count) => sum + (count ?? 0), 0) : null,
    searched: kinds.length === 1 ? kinds[0]! : ('mixed' as const),
    catalogs,
    warnings: [
      ...catalogs.flatMap(({ catalog, error }) =>
        error ? [`${catalog} was not searched: ${error.message}`] : [],
      ),
      ...output.notes,
      ...(!from && merged.length === 0 ? [emptyWarning(answered, answered, query)] : []),
    ],
  };
  const after = (kept: number) => cursorFor(searches, settled, merged.slice(0, kept));
  const next = after(merged.length);
  return page(data, { next: next.at.length > 0 ? next : undefined, after });
}

/** Names the searched catalogues and suggests what to try. */
function emptyWarning(
  searched: readonly string[],
  configured: readonly string[],
  query: CollectionQuery,
): string {
  const others = configured.filter((name) => !searched.includes(name));
  const isNarrow = query.bbox !== undefined || query.datetime !== undefined;
  const tips = [
    ...(others.length > 0
      ? [`search all configured catalogues with catalog "*" (also ${others.join(', ')})`]
      : []),
    ...(query.q === undefined ? [] : ['use fewer or other words: all words must occur']),
    ...(isNarrow ? ['leave out bbox and datetime'] : []),
  ];
  const advice = tips.length > 0 ? ` Try: ${tips.join('; ')}.` : '';
  return `Found no matching collection in ${searched.join(', ')}.${advice}`;
}

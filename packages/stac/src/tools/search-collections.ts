import { page } from '@toolkeel/contract';
import type { Catalog } from '../api/catalogs.js';
import type { Client } from '../api/client.js';
import {
  allCollections,
  collectionsPage,
  type AllCollections,
  type CollectionsPage,
} from '../api/collections.js';
import { collectionsUrl } from './get.js';
import type { Landing } from '../api/landing.js';
import { linkTo } from '../api/links.js';
import type { Doc } from '../json.js';
import type { CallContext } from '../call-context.js';
import { crossesAntimeridian, flat } from '../geometry/box.js';
import { PAGE_SIZE } from '../search/collect.js';
import { latestWarning, readCriteria, type Criteria } from '../search/criteria.js';
import { type Cursor, type FederatedCursor, fitsToken, further, isOnTrail, packCursor, unpackCursor } from '../search/cursor.js';
import { project, readFields } from '../search/fields.js';
import type { FetchedList } from '../search/leftovers.js';
import { identityOf, repeatsSecret, type PageRequest } from '../search/page.js';
import { unsupported } from '../search/plan.js';
import { LOOP, REPEATS_SECRET } from '../search/search.js';
import { staticCollections } from '../static/search.js';
import { catalogTool, throwIfAllFailed } from './tool.js';
import { matchCollections, scoreOf } from './match-collections.js';
import { askAll, continued, cursorFor, mergedItems, reportOf } from './search-federated.js';
import { collectionSummary, withoutLinks } from './summaries.js';
import { searchCollectionsSpec } from './specs/search.js';

/** As `catalog`: all that are configured. */
const ALL_CATALOGS = '*';

/** Collections of one catalogue, and where the list continues. */
export interface FoundCollections extends FetchedList {
  readonly matched: number | null;
  readonly searched: 'server' | 'local' | 'list';
}

export const searchCollections = (client: Client) =>
  catalogTool(searchCollectionsSpec, client, async (args, { scope, cursor }) => {
    const { bbox, datetime, q } = args;
    const wanted: Wanted = { ...readCriteria({ bbox, datetime }), q, limit: args.limit };
    const isBrief = args.output_format === 'text' && args.fields === undefined;
    const show = (one: Doc) => ({
      ...(isBrief ? collectionSummary(one) : project(withoutLinks(one), readFields(args.fields))),
      id: String(one['id']),
    });
    const isFederated = cursor !== undefined && 'at' in cursor;
    if (args.catalog === ALL_CATALOGS && args.catalog_url === undefined) {
      const from = isFederated ? cursor : undefined;
      return everywhere(client, wanted, from, scope, { show, notes: latestWarning(datetime) });
    }
    const catalog = client.catalogs.choose(args);
    const from = isFederated ? undefined : cursor;
    const list = await findCollections(client, catalog, wanted, from, scope);
    const isEmpty = !cursor && list.items.length === 0;
    const data = {
      catalog: catalog.name,
      collections: list.items.map(show),
      matched: list.matched,
      searched: list.searched,
      warnings: [
        ...list.warnings,
        ...latestWarning(datetime),
        ...(isEmpty ? [emptyWarning([catalog.name], client.catalogs.names, wanted)] : []),
      ],
    };
    return page(data, { next: list.next, after: list.after });
  });

/** One search in all configured catalogues, the best matches of all first. */
async function everywhere(
  client: Client,
  wanted: Wanted,
  from: FederatedCursor | undefined,
  scope: CallContext,
  answer: {
    readonly show: (one: Doc) => Doc & { readonly id: string };
    readonly notes: readonly string[];
  },
) {
  const parts = continued(client.catalogs.all, from);
  const settled = await askAll(client, parts, scope, ({ catalog, cursor }, partScope) =>
    findCollections(client, catalog, wanted, cursor, partScope),
  );
  const catalogs = parts.map(({ catalog }, index) => reportOf(catalog, settled[index]!, () => 0));
  throwIfAllFailed(parts, settled);
  const found = settled.flatMap((one) => (one.ok === true ? [one.value] : []));
  const merged = mergedItems(parts, settled, (a, b) => scoreOf(b, wanted.q) - scoreOf(a, wanted.q));
  const counts = found.map(({ matched }) => matched);
  const isKnown = found.length === parts.length && !counts.includes(null);
  const kinds = [...new Set(found.map(({ searched }) => searched))];
  const answered = catalogs.filter(({ ok }) => ok).map(({ catalog }) => catalog);
  const data = {
    catalog: ALL_CATALOGS,
    collections: merged.map(({ item, part }) => ({
      ...answer.show(item),
      catalog: parts[part]!.catalog.name,
    })),
    matched: isKnown ? counts.reduce((sum: number, count) => sum + (count ?? 0), 0) : null,
    searched: kinds.length === 1 ? kinds[0]! : ('mixed' as const),
    catalogs,
    warnings: [
      ...catalogs.flatMap(({ catalog, error }) =>
        error ? [`${catalog} was not searched: ${error.message}`] : [],
      ),
      ...answer.notes,
      ...(!from && merged.length === 0 ? [emptyWarning(answered, answered, wanted)] : []),
    ],
  };
  const after = (kept: number) => cursorFor(parts, settled, merged.slice(0, kept));
  const next = after(merged.length);
  return page(data, { next: next.at.length > 0 ? next : undefined, after });
}

/** An empty answer says where the search looked and what to try. */
function emptyWarning(
  searched: readonly string[],
  configured: readonly string[],
  wanted: Wanted,
): string {
  const others = configured.filter((name) => !searched.includes(name));
  const isNarrow = wanted.bbox !== undefined || wanted.datetime !== undefined;
  const tips = [
    ...(others.length > 0
      ? [`search all configured catalogues with catalog "*" (also ${others.join(', ')})`]
      : []),
    ...(wanted.q === undefined ? [] : ['use fewer or other words: all words must occur']),
    ...(isNarrow ? ['leave out bbox and datetime'] : []),
  ];
  const advice = tips.length > 0 ? ` Try: ${tips.join('; ')}.` : '';
  return `Found no matching collection in ${searched.join(', ')}.${advice}`;
}

function findCollections(
  client: Client,
  catalog: Catalog,
  wanted: Wanted,
  cursor: Cursor | undefined,
  scope: CallContext,
): Promise<FoundCollections> {
  const { limit, ...query } = wanted;
  return client.foundCollections.page([catalog.name, query], { limit, cursor }, async () => {
    const landing = await client.landing(catalog, scope);
    return asksServer(landing, wanted)
      ? listed(client, catalog, landing, wanted, cursor, scope)
      : lookedThrough(client, catalog, landing, wanted, cursor, scope);
  });
}

interface Wanted extends Pick<Criteria, 'bbox' | 'datetime' | 'span'> {
  readonly q: string | undefined;
  readonly limit: number;
}

function isSearch({ q, bbox, datetime }: Wanted): boolean {
  return q !== undefined || bbox !== undefined || datetime !== undefined;
}

/** Whether the server can do all that is asked; a plain list is no search. */
function asksServer({ kind, can, collections }: Landing, wanted: Wanted): boolean {
  if (kind === 'static' || !collections) return false;
  if (!isSearch(wanted)) return true;
  const box = wanted.bbox && flat(wanted.bbox);
  // There is no geometry to fall back to here, and a wrapped box is not understood by all.
  if (!can.has('collection_search') || (box && crossesAntimeridian(box))) return false;
  return wanted.q === undefined || can.has('collection_free_text');
}

async function listed(
  client: Client,
  catalog: Catalog,
  landing: Landing,
  wanted: Wanted,
  cursor: Cursor | undefined,
  scope: CallContext,
): Promise<FoundCollections> {
  const first = listRequest(landing, wanted);
  const request = cursor ? unpackCursor(cursor, first) : first;
  const answer = await collectionsPage(client, catalog, request, scope);
  const skip = cursor?.skip ?? 0;
  const seen = [...(cursor?.seen ?? []), identityOf(request)];
  const { next } = answer;
  const trail = cursor?.trail;
  const isRepeated = skip === 0 && isOnTrail(answer.collections, trail);
  const isSecret = next !== undefined && repeatsSecret(next, catalog.secrets);
  const isLoop = isRepeated || (next !== undefined && seen.includes(identityOf(next)));
  const items = isRepeated ? [] : answer.collections.slice(skip);
  const within = (from: number) =>
    packCursor(request, first, { skip: from, seen: seen.slice(0, -1), trail });
  const onward =
    next && !isLoop && !isSecret && answer.collections.length > 0
      ? packCursor(next, first, { seen, trail: further(trail, answer.collections) })
      : undefined;
  return {
    items,
    matched: matchedIn(answer, seen.length === 1),
    searched: isSearch(wanted) ? 'server' : 'list',
    warnings: [...(isLoop ? [LOOP] : []), ...(isSecret ? [REPEATS_SECRET] : [])],
    next: onward && fitsToken(onward) ? onward : undefined,
    after: (kept) => (kept < items.length ? within(skip + kept) : (onward ?? within(skip + kept))),
  };
}

/** The server's number; without one, the length of a list of a single page. */
function matchedIn({ matched, collections, next }: CollectionsPage, isFirst: boolean) {
  // Some servers put the size of the page there.
  if (matched !== undefined && matched >= collections.length) return matched;
  return !next && isFirst ? collections.length : null;
}

function listRequest(landing: Landing, { q, bbox, datetime, limit: size }: Wanted): PageRequest {
  const url = new URL(collectionsUrl(landing));
  if (q !== undefined) url.searchParams.set('q', q);
  if (bbox) url.searchParams.set('bbox', bbox.join(','));
  if (datetime !== undefined) url.searchParams.set('datetime', datetime);
  // Who does not search collections may not know the parameter, and refuse it.
  if (landing.can.has('collection_search'))
    url.searchParams.set('limit', String(Math.min(size, PAGE_SIZE)));
  return { method: 'GET', url };
}

async function lookedThrough(
  client: Client,
  catalog: Catalog,
  landing: Landing,
  wanted: Wanted,
  cursor: Cursor | undefined,
  scope: CallContext,
): Promise<FoundCollections> {
  const request: PageRequest = { method: 'GET', url: collectionsUrl(landing) };
  const found: AllCollections = landing.collections
    ? await allCollections(client, catalog, request, scope)
    : await linkedCollections(client, catalog, landing, scope);
  const { collections: all, complete, circular = false } = found;
  const matching = matchCollections(all, { q: wanted.q, area: wanted });
  const skip = cursor?.skip ?? 0;
  const at = (from: number) => packCursor(request, request, { skip: from, seen: [] });
  return {
    items: matching.slice(skip),
    matched: complete ? matching.length : null,
    searched: 'local',
    warnings: [
      ...(circular ? [LOOP] : []),
      ...(complete || circular
        ? []
        : [`Only ${all.length} collections could be looked through in time.`]),
    ],
    after: (kept) => at(skip + kept),
  };
}

/** Without a list, what the first page links to: files, or a server that only searches items. */
function linkedCollections(client: Client, catalog: Catalog, landing: Landing, scope: CallContext) {
  if (landing.kind === 'api' && !linkTo(landing.doc, 'child')) {
    unsupported('collections', 'This catalogue does not list its collections.');
  }
  return staticCollections(client, catalog, landing, scope);
}

import type { Route, RouteContext } from '../server/upstream.js';
import { aggregate, aggregationList } from './api/aggregate.js';
import type { Api } from './api/http.js';
import {
  collection,
  collections,
  conformance,
  description,
  item,
  landing,
  queryables,
} from './api/collections.js';
import { items, search } from './api/search.js';
import { storageError, serveAsset, type Signing, signToken } from './assets.js';
import { createStatic, HOSTILE, STATIC } from './static.js';

type Handler = (api: Api, context: RouteContext) => Response | Promise<Response>;
type Row = readonly [name: string, method: Route['method'], path: string, handler: Handler];

/** The API routes that the server's traits enable. */
function apiRows({ traits }: Api): Row[] {
  const rows: (Row | false)[] = [
    ['landing', 'GET', '', landing],
    ['landing', 'GET', '/', landing],
    traits.features && ['conformance', 'GET', '/conformance', conformance],
    traits.features && ['collections', 'GET', '/collections', collections],
    ['collection', 'GET', '/collections/:collection', collection],
    traits.features && ['items', 'GET', '/collections/:collection/items', items],
    ['item', 'GET', '/collections/:collection/items/:item', item],
    ['search', 'GET', '/search', search],
    traits.postSearch && ['search', 'POST', '/search', search],
    ...(traits.filter.length > 0
      ? withCollectionVariant('queryables', 'GET', '/queryables', queryables)
      : []),
    ...(traits.aggregation
      ? [
          ...withCollectionVariant('aggregate', 'GET', '/aggregate', aggregate),
          ...(traits.postSearch
            ? withCollectionVariant('aggregate', 'POST', '/aggregate', aggregate)
            : []),
          ...withCollectionVariant('aggregations', 'GET', '/aggregations', aggregationList),
        ]
      : []),
  ];
  return rows.filter((row) => row !== false);
}

function withCollectionVariant(
  name: string,
  method: Route['method'],
  path: string,
  handler: Handler,
): Row[] {
  return [
    [name, method, path, handler],
    [name, method, `/collections/:collection${path}`, handler],
  ];
}

/** All routes, with the names that faults, latencies and the log use. */
export function stacRoutes(api: Api, signing: Signing): Route[] {
  const { catalogue, traits } = api;
  const rows = apiRows(api);
  const operations = rows.map(([name, method, path]) => [method, path, name] as const);
  const serveStatic = createStatic(api);
  const get = (name: string, path: string, handle: Route['handle']): Route => ({
    name,
    method: 'GET',
    path,
    handle,
  });
  const asset = (context: RouteContext): Response => {
    const container = context.req.param('collection') ?? '';
    if (!traits.signedAssets) return serveAsset(catalogue, context);
    const validity = signing.check(container, new URL(context.req.url).searchParams);
    if (validity === 'missing') return storageError(404, 'ResourceNotFound');
    if (validity === 'expired') return storageError(403, 'AuthenticationFailed');
    return serveAsset(catalogue, context);
  };
  const sign = ({ req }: RouteContext): Response => {
    const { collection: named = '', account } = req.param() as Record<string, string>;
    return signToken(signing, catalogue, { collection: named, ...(account && { account }) });
  };
  const signRoutes = ['/api/sas/v1', '/sas/v1'].flatMap((base) => [
    get('sign', `${base}/token/:collection`, sign),
    get('sign', `${base}/token/:account/:collection`, sign),
  ]);
  return [
    ...rows.map(([name, method, path, handler]): Route => ({
      name,
      method,
      path: traits.basePath + path || '/',
      handle: (context) => handler(api, context),
    })),
    get('description', `${traits.basePath}/api`, (context) =>
      description(api, context, operations),
    ),
    ...(traits.signedAssets ? signRoutes : []),
    get('static', `${STATIC}/*`, serveStatic),
    get('static', `${HOSTILE}/*`, serveStatic),
    get('asset', '/assets/:collection/:item/:file', asset),
    get('asset', '/blob/:account/:collection/:item/:file', asset),
    // Azure URLs name the account in the host.
    get('asset', '/:collection/:item/:file', asset),
  ];
}

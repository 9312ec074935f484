import type { RouteContext } from '../../server/upstream.js';
import type { Catalogue } from '../catalogue/catalogue.js';
import type { Product } from '../catalogue/product.js';
import { boxesOf } from '../geo/geometry.js';
import { presentCollection, extentOf } from '../present/collection.js';
import { presentItem } from '../present/item.js';
import {
  type Api,
  badParameter,
  GEOJSON_TYPE,
  JSON_TYPE,
  cacheable,
  link,
  namedCollection,
  type Link,
  notFound,
  OPENAPI_TYPE,
  QUERYABLES_REL,
  SCHEMA_TYPE,
} from './http.js';
import { limitOf, offeredQueryables, readParameters } from '../search/query.js';
import { boxOf, overlap, spanOf } from '../search/parameters.js';
import type { JsonObject } from '../../json.js';
import { conformanceOf } from '../flavours.js';

export async function collections(api: Api, context: RouteContext): Promise<Response> {
  const { traits, catalogue, urls } = api;
  const { parameters, query } = await readParameters(context, traits, [
    traits.collectionsParameter,
  ]);
  const found = traits.collectionSearch
    ? matchingProducts(catalogue, parameters, traits.freeText)
    : catalogue.products;
  const size = traits.collectionsPage ?? found.length;
  const limit = parameters['limit'] === undefined ? size : limitOf(parameters['limit'], traits);
  const from =
    traits.collectionsPage === undefined ? 0 : positionOf(query, traits.collectionsParameter);
  const page = found.slice(from, from + limit);
  const to = (rel: string, position: number): Link => {
    const params = new URLSearchParams(query);
    params.set(traits.collectionsParameter, String(position));
    return link(rel, `${urls.href('/collections')}?${params.toString()}`);
  };
  const paged = traits.collectionsPage !== undefined;
  return cacheable(context, traits, {
    collections: page.map((product) => presentCollection(catalogue, product, traits, urls)),
    links: [
      link('self', urls.href('/collections')),
      link('root', urls.href('')),
      ...(paged && from > 0 ? [to('prev', Math.max(0, from - limit))] : []),
      ...(paged && from + limit < found.length ? [to('next', from + limit)] : []),
    ],
    ...(traits.counts.includes('numberMatched') && {
      numberMatched: found.length,
      numberReturned: page.length,
    }),
  });
}

function positionOf(query: URLSearchParams, name: string): number {
  const given = query.get(name) ?? '0';
  if (!/^\d{1,6}$/.test(given)) throw badParameter(name, 'is not one that this server gave out');
  return Number(given);
}

/** Collection search by box, time, and any of several words. */
function matchingProducts(
  catalogue: Catalogue,
  { bbox, datetime, q }: Readonly<Record<string, unknown>>,
  freeText: boolean,
): Product[] {
  const area = bbox === undefined ? undefined : boxesOf(boxOf(bbox));
  const time = typeof datetime === 'string' ? spanOf(datetime) : undefined;
  const words =
    freeText && Array.isArray(q) ? q.map((word) => String(word).toLowerCase()) : undefined;
  return catalogue.products.filter((product) => {
    const { box, from, to } = extentOf(catalogue.scenesOf(product.id));
    const text = [product.id, product.title, product.description, ...product.keywords]
      .join('\n')
      .toLowerCase();
    return (
      (!area ||
        area.some(
          (it) => it[0] <= box[2] && box[0] <= it[2] && it[1] <= box[3] && box[1] <= it[3],
        )) &&
      (!time || overlap({ from, to: product.ongoing ? Infinity : to }, time)) &&
      (!words || words.some((word) => text.includes(word)))
    );
  });
}

export function collection({ traits, catalogue, urls }: Api, context: RouteContext): Response {
  const id = context.req.param('collection') ?? '';
  const product = catalogue.product(id);
  if (!product) throw notFound(`Collection ${id}`);
  return cacheable(context, traits, presentCollection(catalogue, product, traits, urls));
}

export function item({ traits, catalogue, urls }: Api, context: RouteContext): Response {
  const { collection: parent = '', item: id = '' } = context.req.param() as Record<string, string>;
  const scene = catalogue.scene(parent, id);
  if (!scene) throw notFound(`Item ${id} of collection ${parent}`);
  return cacheable(context, traits, presentItem(catalogue, scene, traits, urls), GEOJSON_TYPE);
}

export function landing({ traits, urls, catalogue }: Api, context: RouteContext): Response {
  return cacheable(context, traits, {
    type: 'Catalog',
    stac_version: traits.stacVersion,
    id: 'toolkeel-sandbox',
    title: 'Toolkeel sandbox',
    description: 'A STAC API over an invented catalogue, which fails on command.',
    conformsTo: conformanceOf(traits),
    links: landingLinks({ traits, urls, catalogue }),
  });
}

function landingLinks({ traits, urls: { href }, catalogue }: Api): Link[] {
  const methods = traits.postSearch ? ['GET', 'POST'] : ['GET'];
  return [
    link('self', href('')),
    link('root', href('')),
    link('service-desc', href('/api'), OPENAPI_TYPE),
    ...(traits.features
      ? [link('conformance', href('/conformance')), link('data', href('/collections'))]
      : []),
    // A search link without a method means GET.
    ...methods.map((method) =>
      link('search', href('/search'), GEOJSON_TYPE, traits.postSearch ? { method } : {}),
    ),
    ...(traits.filter.length > 0 ? [link(QUERYABLES_REL, href('/queryables'), SCHEMA_TYPE)] : []),
    ...(traits.aggregation
      ? [
          ...methods.map((method) => link('aggregate', href('/aggregate'), JSON_TYPE, { method })),
          link('aggregations', href('/aggregations')),
        ]
      : []),
    ...catalogue.products.map(({ id, title }) =>
      link('child', href(`/collections/${id}`), JSON_TYPE, { title }),
    ),
  ];
}

export function conformance({ traits }: Api, context: RouteContext): Response {
  return cacheable(context, traits, { conformsTo: conformanceOf(traits) });
}

/** A minimal service description that only lists the paths. */
export function description(
  { traits, urls }: Api,
  context: RouteContext,
  operations: readonly (readonly [method: string, path: string, name: string])[],
): Response {
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const [method, path, name] of operations) {
    const template = path.replaceAll(/:(\w+)/g, '{$1}') || '/';
    paths[template] = {
      ...paths[template],
      [method.toLowerCase()]: { summary: name, responses: { default: { description: name } } },
    };
  }
  const info = { title: 'Toolkeel sandbox', version: traits.apiVersion };
  const servers = [{ url: urls.api }];
  return cacheable(context, traits, { openapi: '3.0.3', info, servers, paths }, OPENAPI_TYPE);
}

export function queryables(api: Api, context: RouteContext): Response {
  const { traits, catalogue, urls } = api;
  const named = namedCollection(api, context);
  const path = named === undefined ? '/queryables' : `/collections/${named}/queryables`;
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: urls.api + path,
    type: 'object',
    title: `Queryables of ${named ?? 'all collections'}`,
    properties: offeredQueryables(catalogue, traits, named),
    additionalProperties: traits.unknownProperties === 'ignore',
  };
  return cacheable(context, traits, schema, SCHEMA_TYPE);
}

import type { RouteContext } from '../../front/routes.js';
import type { Catalogue } from '../catalogue/catalogue.js';
import type { Product } from '../catalogue/product.js';
import { boxesOf } from '../geo/geometry.js';
import { collectionOf, extentOf } from '../present/collection.js';
import { itemOf } from '../present/item.js';
import { GEOJSON_TYPE, link, type Link } from '../present/links.js';
import { limitOf } from '../search/ask.js';
import { boxOf } from '../search/area.js';
import { overlap, spanOf } from '../search/time.js';
import type { Api } from './api.js';
import { badParameter, notFound } from './problem.js';
import { readAsk } from './read-ask.js';
import { lasting } from './respond.js';

export async function collections(api: Api, context: RouteContext): Promise<Response> {
  const { traits, catalogue, places } = api;
  const { ask, query } = await readAsk(context, traits, [traits.collectionsParameter]);
  const found = traits.collectionSearch
    ? search(catalogue, ask, traits.freeText)
    : catalogue.products;
  const size = traits.collectionsPage ?? found.length;
  const limit = ask['limit'] === undefined ? size : limitOf(ask['limit'], traits);
  const from =
    traits.collectionsPage === undefined ? 0 : positionOf(query, traits.collectionsParameter);
  const page = found.slice(from, from + limit);
  const to = (rel: string, position: number): Link => {
    const params = new URLSearchParams(query);
    params.set(traits.collectionsParameter, String(position));
    return link(rel, `${places.href('/collections')}?${params.toString()}`);
  };
  const paged = traits.collectionsPage !== undefined;
  return lasting(context, traits, {
    collections: page.map((product) => collectionOf(catalogue, product, traits, places)),
    links: [
      link('self', places.href('/collections')),
      link('root', places.href('')),
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

/** Collection search: a box, a time and words, any of which must occur. */
function search(
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

export function collection({ traits, catalogue, places }: Api, context: RouteContext): Response {
  const id = context.req.param('collection') ?? '';
  const product = catalogue.product(id);
  if (!product) throw notFound(`Collection ${id}`);
  return lasting(context, traits, collectionOf(catalogue, product, traits, places));
}

export function item({ traits, catalogue, places }: Api, context: RouteContext): Response {
  const { collection: parent = '', item: id = '' } = context.req.param() as Record<string, string>;
  const scene = catalogue.scene(parent, id);
  if (!scene) throw notFound(`Item ${id} of collection ${parent}`);
  return lasting(context, traits, itemOf(catalogue, scene, traits, places), GEOJSON_TYPE);
}

import type { Json, JsonObject } from '../../json.js';
import type { Catalogue } from '../catalogue/catalogue.js';
import type { Product } from '../catalogue/product.js';
import { isoTime, type Scene } from '../catalogue/scene.js';
import type { Traits } from '../flavours.js';
import type { Box } from '../geo/geometry.js';
import { bandsOf } from './item.js';
import {
  GEOJSON_TYPE,
  link,
  QUERYABLES_REL,
  SCHEMA_TYPE,
  type Link,
  type ApiUrls,
} from '../api/http.js';

const WORLD: Box = [-180, -90, 180, 90];

export interface Extent {
  readonly box: Box;
  readonly from: number;
  readonly to: number;
}

/** The extent of a collection's scenes; without scenes, of a planned global collection. */
export function extentOf(scenes: readonly Scene[]): Extent {
  if (scenes.length === 0) return { box: WORLD, from: Date.UTC(2030, 0, 1), to: Infinity };
  const boxes = scenes.map(({ footprint }) => footprint.bbox);
  const crosses = boxes.some(([west, , east]) => west > east);
  const box: Box = [
    crosses ? -180 : Math.min(...boxes.map(([west]) => west)),
    Math.min(...boxes.map(([, south]) => south)),
    crosses ? 180 : Math.max(...boxes.map(([, , east]) => east)),
    Math.max(...boxes.map(([, , , north]) => north)),
  ];
  return {
    box,
    from: Math.min(...scenes.map(({ from }) => from)),
    to: Math.max(...scenes.map(({ to }) => to)),
  };
}

export function presentCollection(
  catalogue: Catalogue,
  product: Product,
  traits: Traits,
  urls: ApiUrls,
  links: readonly Link[] = collectionLinks(product, traits, urls),
): JsonObject {
  const scenes = catalogue.scenesOf(product.id);
  const { box, from, to } = extentOf(scenes);
  const old = traits.stacVersion === '1.0.0';
  return {
    type: 'Collection',
    stac_version: traits.stacVersion,
    stac_extensions: old
      ? ['https://stac-extensions.github.io/item-assets/v1.0.0/schema.json']
      : [],
    id: product.id,
    title: product.title,
    description: product.description,
    keywords: product.keywords,
    license: old && product.license === 'other' ? 'proprietary' : product.license,
    providers: product.providers,
    extent: {
      spatial: { bbox: [box] },
      temporal: { interval: [[isoTime(from), product.ongoing ? null : isoTime(to)]] },
    },
    summaries: summariesOf(scenes),
    item_assets: Object.fromEntries(
      product.assets.map((template) => {
        const { key, title, type, roles } = template;
        return [key, { title, type, roles, ...bandsOf(template, traits) }];
      }),
    ),
    links,
  };
}

function collectionLinks({ id, license }: Product, traits: Traits, { href }: ApiUrls): Link[] {
  const self = `/collections/${id}`;
  return [
    link('self', href(self)),
    link('parent', href('')),
    link('root', href('')),
    ...(traits.features ? [link('items', href(`${self}/items`), GEOJSON_TYPE)] : []),
    ...(traits.filter.length > 0
      ? [link(QUERYABLES_REL, href(`${self}/queryables`), SCHEMA_TYPE, { title: 'Queryables' })]
      : []),
    ...(traits.aggregation
      ? ['aggregate', 'aggregations'].map((rel) => link(rel, href(`${self}/${rel}`)))
      : []),
    ...(license === 'other' ? [link('license', 'https://example.org/licence', 'text/html')] : []),
  ];
}

function summariesOf(scenes: readonly Scene[]): JsonObject {
  const valuesOf = (name: string): Json[] => [
    ...new Set(
      scenes.map(({ properties }) => properties[name] ?? null).filter((it) => it !== null),
    ),
  ];
  const lists = ['platform', 'constellation', 'gsd'].flatMap((name) => {
    const values = valuesOf(name);
    return values.length > 0 ? [[name, values] as const] : [];
  });
  const clouds = valuesOf('eo:cloud_cover').filter((value) => typeof value === 'number');
  return {
    ...Object.fromEntries(lists),
    ...(clouds.length > 0 && {
      'eo:cloud_cover': { minimum: Math.min(...clouds), maximum: Math.max(...clouds) },
    }),
  };
}

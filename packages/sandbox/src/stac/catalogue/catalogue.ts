import { createHash } from 'node:crypto';
import type { JsonObject } from '../../json.js';
import { products } from './product.js';
import { type Scene, scenesOf } from './scene.js';

export type Catalogue = ReturnType<typeof createCatalogue>;

interface CatalogueOptions {
  readonly seed: number;
  /** 1 is a few thousand scenes. */
  readonly scale: number;
}

/** Catalogues are immutable, so the sandboxes of a process share them. */
const recent = new Map<string, Catalogue>();
const KEPT = 3;

export function catalogueOf(options: CatalogueOptions): Catalogue {
  const key = `${options.seed} ${options.scale}`;
  const catalogue = recent.get(key) ?? createCatalogue(options);
  recent.delete(key);
  recent.set(key, catalogue);
  const [oldest] = recent.size > KEPT ? recent.keys() : [];
  if (oldest !== undefined) recent.delete(oldest);
  return catalogue;
}

export function createCatalogue({ seed, scale }: CatalogueOptions) {
  const byProduct = new Map<string, Map<string, Scene>>();
  for (const product of products) {
    const scenes = scenesOf(product, seed, scale);
    byProduct.set(product.id, new Map(scenes.map((scene) => [scene.id, scene])));
  }
  const scenes = [...byProduct.values()].flatMap((all) => [...all.values()]).toSorted(newestFirst);
  const byId = new Map(products.map((product) => [product.id, product]));
  return {
    seed,
    products,
    /** All scenes, newest first. */
    scenes: scenes as readonly Scene[],
    product: (collection: string) => byId.get(collection),
    scene: (collection: string, id: string) => byProduct.get(collection)?.get(id),
    scenesOf: (collection: string): readonly Scene[] => [
      ...(byProduct.get(collection)?.values() ?? []),
    ],
  };
}

/** The default order: newest first. It is total, so that paging is stable. */
export function newestFirst(a: Scene, b: Scene): number {
  return b.from - a.from || compareText(a.collection, b.collection) || compareText(a.id, b.id);
}

/** Compares by code units, independent of the locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Equal for catalogues with equal scenes. */
export function digestOf({ scenes }: Catalogue): string {
  const digest = createHash('sha256');
  for (const { collection, id, footprint, properties } of scenes)
    digest.update(JSON.stringify([collection, id, footprint.geometry, footprint.bbox, properties]));
  return digest.digest('hex');
}

const moment = { type: 'string', format: 'date-time' } as const;
const text = { type: 'string' } as const;
const number = { type: 'number' } as const;

/** The queryables of all collections. */
const everywhere: Readonly<Record<string, JsonObject>> = {
  id: { title: 'Item ID', ...text },
  collection: { title: 'Collection ID', ...text },
  geometry: { title: 'Footprint', $ref: 'https://geojson.org/schema/Geometry.json' },
  datetime: { title: 'Acquired', ...moment },
};

const byProperty: Readonly<Record<string, JsonObject>> = {
  start_datetime: { title: 'Begin', ...moment },
  end_datetime: { title: 'End', ...moment },
  created: { title: 'Created', ...moment },
  updated: { title: 'Updated', ...moment },
  platform: { title: 'Platform', ...text },
  constellation: { title: 'Constellation', ...text },
  gsd: { title: 'Ground sample distance', ...number, exclusiveMinimum: 0 },
  'eo:cloud_cover': { title: 'Cloud cover', ...number, minimum: 0, maximum: 100 },
  'proj:code': { title: 'Projection', ...text },
  'grid:code': { title: 'Grid cell', ...text },
  'view:off_nadir': { title: 'Off nadir', ...number },
  'sat:orbit_state': { title: 'Orbit state', ...text, enum: ['ascending', 'descending'] },
  'sat:relative_orbit': { title: 'Relative orbit', type: 'integer' },
  'sar:instrument_mode': { title: 'Instrument mode', ...text },
  'sar:product_type': { title: 'Product type', ...text },
  's2:nodata_pixel_percentage': { title: 'Pixels without data', ...number },
  's2:processing_baseline': { title: 'Processing baseline', ...text },
  'landsat:wrs_path': { title: 'WRS-2 path', ...text },
  'landsat:wrs_row': { title: 'WRS-2 row', ...text },
  'landsat:collection_category': { title: 'Tier', ...text },
  'naip:year': { title: 'Year', ...text },
};

export type Queryables = Readonly<Record<string, JsonObject>>;

/** The queryables that occur in a collection, or in any. */
export function queryablesOf(catalogue: Catalogue, collection?: string): Queryables {
  const scenes = collection === undefined ? catalogue.scenes : catalogue.scenesOf(collection);
  const found = new Set(scenes.flatMap(({ properties }) => Object.keys(properties)));
  const named = Object.entries(byProperty).filter(([name]) => found.has(name));
  return { ...everywhere, ...Object.fromEntries(named) };
}

/** Whether a property is a date-time. */
export function isDateTime(name: string): boolean {
  const schema = Object.hasOwn(byProperty, name) ? byProperty[name] : everywhere[name];
  return schema?.['format'] === 'date-time';
}

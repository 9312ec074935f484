import { createHash } from 'node:crypto';
import type { Product } from './product.js';
import { products } from './products/index.js';
import type { Scene } from './scene.js';

export interface Catalogue {
  readonly seed: number;
  readonly products: readonly Product[];
  /** All scenes, newest first. */
  readonly scenes: readonly Scene[];
  readonly product: (collection: string) => Product | undefined;
  readonly scene: (collection: string, id: string) => Scene | undefined;
  readonly scenesOf: (collection: string) => readonly Scene[];
}

export interface CatalogueOptions {
  readonly seed: number;
  /** 1 is a few thousand scenes. */
  readonly scale: number;
}

/** Catalogues never change, so several sandboxes in a process can look at one. */
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

export function createCatalogue({ seed, scale }: CatalogueOptions): Catalogue {
  const byProduct = new Map<string, Map<string, Scene>>();
  for (const product of products) {
    const drawn = product.scenes({ seed, count: Math.ceil(product.usualCount * scale) });
    byProduct.set(product.id, new Map(drawn.map((scene) => [scene.id, scene])));
  }
  const scenes = [...byProduct.values()].flatMap((all) => [...all.values()]).toSorted(newestFirst);
  const byId = new Map(products.map((product) => [product.id, product]));
  return {
    seed,
    products,
    scenes,
    product: (collection) => byId.get(collection),
    scene: (collection, id) => byProduct.get(collection)?.get(id),
    scenesOf: (collection) => [...(byProduct.get(collection)?.values() ?? [])],
  };
}

/** The order in which servers answer when nobody asks for another. Total, so that paging is safe. */
export function newestFirst(a: Scene, b: Scene): number {
  return b.from - a.from || compareText(a.collection, b.collection) || compareText(a.id, b.id);
}

/** By code units: the same on every machine, whatever its language. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Two catalogues with the same digest hold the same scenes. */
export function digestOf({ scenes }: Catalogue): string {
  const digest = createHash('sha256');
  for (const { collection, id, footprint, properties } of scenes)
    digest.update(JSON.stringify([collection, id, footprint.geometry, footprint.bbox, properties]));
  return digest.digest('hex');
}

import type { Catalogue } from '../catalogue/catalogue.js';
import type { Scene } from '../catalogue/scene.js';
import { intersect } from '../geo/intersects.js';
import type { Ask, Criteria } from './ask.js';
import { comparatorOf } from './sort.js';
import { overlap } from './time.js';

export function matching(catalogue: Catalogue, criteria: Criteria): Scene[] {
  const { collections, ids, area, time, words, predicates } = criteria;
  return catalogue.scenes.filter(
    (scene) =>
      (collections?.has(scene.collection) ?? true) &&
      (ids?.has(scene.id) ?? true) &&
      (!time || overlap(scene, time)) &&
      predicates.every((predicate) => predicate(scene)) &&
      (!words || mentions(catalogue, scene, words)) &&
      (!area || intersect(scene.footprint.parts, area)),
  );
}

export function sorted(scenes: readonly Scene[], { sort }: Ask): readonly Scene[] {
  return sort.length > 0 ? scenes.toSorted(comparatorOf(sort)) : scenes;
}

/** Free text looks at names, and at the keywords of the collection. */
function mentions(catalogue: Catalogue, scene: Scene, words: readonly string[]): boolean {
  const product = catalogue.product(scene.collection);
  const platform = scene.properties['platform'];
  const told = [scene.id, scene.collection, product?.title, ...(product?.keywords ?? []), platform];
  const text = told
    .filter((it) => typeof it === 'string')
    .join('\n')
    .toLowerCase();
  return words.some((word) => text.includes(word));
}

import { type Catalogue, newestFirst } from '../catalogue/catalogue.js';
import type { Scene } from '../catalogue/scene.js';
import { intersect } from '../geo/geometry.js';
import type { SearchRequest, Criteria } from './query.js';
import { overlap } from './parameters.js';
import { isObject, type Json } from '../../json.js';
import { badParameter } from '../api/http.js';

export function matching(catalogue: Catalogue, criteria: Criteria): Scene[] {
  const { collections, ids, area, time, words, predicates } = criteria;
  return catalogue.scenes.filter(
    (scene) =>
      (collections?.has(scene.collection) ?? true) &&
      (ids?.has(scene.id) ?? true) &&
      (!time || overlap(scene, time)) &&
      predicates.every((predicate) => predicate(scene)) &&
      (!words || matchesText(catalogue, scene, words)) &&
      (!area || intersect(scene.footprint.parts, area)),
  );
}

export function sorted(scenes: readonly Scene[], { sort }: SearchRequest): readonly Scene[] {
  return sort.length > 0 ? scenes.toSorted(comparatorOf(sort)) : scenes;
}

/** Free-text search covers ids, platforms, and the collection's title and keywords. */
function matchesText(catalogue: Catalogue, scene: Scene, words: readonly string[]): boolean {
  const product = catalogue.product(scene.collection);
  const platform = scene.properties['platform'];
  const searched = [
    scene.id,
    scene.collection,
    product?.title,
    ...(product?.keywords ?? []),
    platform,
  ];
  const text = searched
    .filter((it) => typeof it === 'string')
    .join('\n')
    .toLowerCase();
  return words.some((word) => text.includes(word));
}

export type Predicate = (scene: Scene) => boolean;

type Compare = (value: Json, wanted: unknown) => boolean;

const ordered =
  (holds: (order: number) => boolean): Compare =>
  (value, wanted) =>
    (typeof value === 'number' && typeof wanted === 'number' && holds(value - wanted)) ||
    (typeof value === 'string' &&
      typeof wanted === 'string' &&
      holds(value < wanted ? -1 : value > wanted ? 1 : 0));

const onText =
  (holds: (value: string, wanted: string) => boolean): Compare =>
  (value, wanted) =>
    typeof value === 'string' && typeof wanted === 'string' && holds(value, wanted);

const operators: Readonly<Record<string, Compare>> = {
  eq: (value, wanted) => value === wanted,
  neq: (value, wanted) => value !== null && value !== wanted,
  lt: ordered((order) => order < 0),
  lte: ordered((order) => order <= 0),
  gt: ordered((order) => order > 0),
  gte: ordered((order) => order >= 0),
  startsWith: onText((value, wanted) => value.startsWith(wanted)),
  endsWith: onText((value, wanted) => value.endsWith(wanted)),
  contains: onText((value, wanted) => value.includes(wanted)),
  in: (value, wanted) => Array.isArray(wanted) && wanted.includes(value),
};

/** The `query` parameter: operators by property, all of which must match. */
export function queryPredicate(given: unknown): Predicate {
  if (!isObject(given)) throw badParameter('query', 'is not an object');
  const tests = Object.entries(given).flatMap(([property, conditions]) => {
    if (!isObject(conditions)) throw badParameter('query', `"${property}" has no operators`);
    const name = unqualifiedName(property);
    return Object.entries(conditions).map(([operator, wanted]): Predicate => {
      const compare = Object.hasOwn(operators, operator) ? operators[operator] : undefined;
      if (!compare) throw badParameter('query', `"${operator}" is not an operator`);
      return (scene) => compare(propertyOf(scene, name), wanted);
    });
  });
  return (scene) => tests.every((test) => test(scene));
}

export interface SortKey {
  readonly field: string;
  readonly direction: 'asc' | 'desc';
}

/** Parses `+a,-b,c`; an unescaped plus sign arrives as a space. */
export function sortKeysFromText(text: string): SortKey[] {
  return text
    .split(',')
    .map((part) => part.trimEnd())
    .filter((part) => part.trim() !== '')
    .map((part) => ({
      field: part.replace(/^[+\- ]/, ''),
      direction: part.startsWith('-') ? 'desc' : 'asc',
    }));
}

export function sortKeys(given: unknown): SortKey[] {
  if (!Array.isArray(given)) throw badParameter('sortby', 'is not a list');
  return given.map((key: unknown): SortKey => {
    if (!isObject(key) || typeof key['field'] !== 'string')
      throw badParameter('sortby', 'has a member without a field');
    const direction = key['direction'] ?? 'asc';
    if (direction !== 'asc' && direction !== 'desc')
      throw badParameter('sortby', `${JSON.stringify(direction)} is not a direction`);
    return { field: key['field'], direction };
  });
}

/** Sorts by the keys, then newest first. Scenes without a value come last in both directions. */
function comparatorOf(keys: readonly SortKey[]): (a: Scene, b: Scene) => number {
  const named = keys.map(({ field, direction }) => ({
    name: unqualifiedName(field),
    sign: direction === 'desc' ? -1 : 1,
  }));
  return (a, b) => {
    for (const { name, sign } of named) {
      const [one, other] = [propertyOf(a, name), propertyOf(b, name)];
      if (one === other) continue;
      if (one === null) return 1;
      if (other === null) return -1;
      if (one < other) return -sign;
      if (one > other) return sign;
    }
    return newestFirst(a, b);
  };
}

/** Removes the prefix `properties.`, which some servers require and others reject. */
export function unqualifiedName(name: string): string {
  return name.startsWith('properties.') ? name.slice('properties.'.length) : name;
}

/** A property for filters and sorting; null if the scene has none. */
export function propertyOf(scene: Scene, name: string): Json {
  if (name === 'id') return scene.id;
  if (name === 'collection') return scene.collection;
  const { properties } = scene;
  return Object.hasOwn(properties, name) ? (properties[name] ?? null) : null;
}

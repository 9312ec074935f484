import { isObject } from '../../json.js';
import { badParameter } from '../api/problem.js';
import { newestFirst } from '../catalogue/catalogue.js';
import type { Scene } from '../catalogue/scene.js';
import { plainName, propertyOf } from './property.js';

export interface SortKey {
  readonly field: string;
  readonly direction: 'asc' | 'desc';
}

/** `+a,-b,c`; a plus sign that nobody escaped has become a space. */
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

/** By the keys, then newest first. Scenes without a value come last, in both directions. */
export function comparatorOf(keys: readonly SortKey[]): (a: Scene, b: Scene) => number {
  const named = keys.map(({ field, direction }) => ({
    name: plainName(field),
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

import type { JsonObject } from '@toolkeel/pack-kit';
import { propertyOf } from './query.js';
import { timeOf } from './statistics.js';

export interface SortKey {
  readonly field: string;
  readonly direction: 'asc' | 'desc';
}

/** `-datetime,+id`, a list of such strings, or the objects of the sort extension. */
export type SortbyArgument = string | readonly (string | SortKey)[];

export function parseSortby(given: SortbyArgument): readonly SortKey[] {
  const list = typeof given === 'string' ? given.split(',') : given;
  return list
    .map((key) => (typeof key === 'string' ? parseKey(key.trim()) : key))
    .filter(({ field }) => field !== '');
}

function parseKey(text: string): SortKey {
  const field = text.replace(/^[+-]/, '').trim();
  return { field, direction: text.startsWith('-') ? 'desc' : 'asc' };
}

/** The value of the GET parameter. */
export function sortbyParameter(keys: readonly SortKey[]): string {
  return keys
    .map(({ field, direction }) => `${direction === 'desc' ? '-' : '+'}${field}`)
    .join(',');
}

const TOP_LEVEL: ReadonlySet<string> = new Set(['id', 'collection', 'geometry', 'bbox']);

/** Toggles the prefix `properties.`, which some servers require and others reject. */
export function otherPrefix(keys: readonly SortKey[]): readonly SortKey[] {
  return keys.map(({ field, direction }) => {
    if (field.startsWith('properties.')) return { field: field.slice(11), direction };
    return { field: TOP_LEVEL.has(field) ? field : `properties.${field}`, direction };
  });
}

/** Negative if the first item comes before the second. */
export type Order = (a: JsonObject, b: JsonObject) => number;

/** The order of the sort keys; newest first without keys. */
export function orderOf(keys: readonly SortKey[] | undefined): Order {
  if (!keys) return (a, b) => byValue(timeOf(b), timeOf(a), -1);
  return (a, b) => {
    for (const { field, direction } of keys) {
      const [x, y] = [comparable(propertyOf(a, field)), comparable(propertyOf(b, field))];
      const order = direction === 'asc' ? byValue(x, y, 1) : byValue(y, x, -1);
      if (order !== 0) return order;
    }
    return 0;
  };
}

type Value = number | string | undefined;

/** Missing values come last in both directions; `sign` is -1 for descending order. */
function byValue(a: Value, b: Value, sign: 1 | -1): number {
  if (a === undefined || b === undefined) {
    return a === b ? 0 : (a === undefined ? 1 : -1) * sign;
  }
  if (typeof a === typeof b) return a < b ? -1 : Number(a > b);
  return typeof a === 'number' ? -1 : 1;
}

const DATETIME = /^\d{4}-\d{2}-\d{2}T/;

/** Times are compared as numbers, because their string formats differ. */
function comparable(value: unknown): Value {
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return undefined;
  const time = DATETIME.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(time) ? value : time;
}

export function isInOrder(items: readonly JsonObject[], order: Order): boolean {
  return items.every((item, index) => index === 0 || order(items[index - 1]!, item) <= 0);
}

import { booleanIntersects } from '@turf/boolean-intersects';
import type { Item } from './client.js';

export type Box = readonly [number, number, number, number];
type Test = (item: Item) => boolean | null;

/** A reference implementation of search that shares no code with the server. */
const splitBox = ([west, south, east, north]: Box): Box[] =>
  west <= east
    ? [[west, south, east, north]]
    : [
        [west, south, 180, north],
        [-180, south, east, north],
      ];

const overlaps = (a: Box, b: Box): boolean =>
  a[0] <= b[2] && b[0] <= a[2] && a[1] <= b[3] && b[1] <= a[3];

export const touchesGeometry = (item: Item, geometry: object, around: readonly Box[]): boolean =>
  splitBox(item.bbox).some((box) => around.some((other) => overlaps(box, other))) &&
  booleanIntersects(item.geometry as never, geometry as never);

const polygonOf = ([west, south, east, north]: Box) => ({
  type: 'Polygon',
  coordinates: [
    [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
      [west, south],
    ],
  ],
});

export const touchesBox = (item: Item, box: Box): boolean =>
  splitBox(box).some((part) => touchesGeometry(item, polygonOf(part), [part]));

const spanOf = ({ properties }: Item): [number, number] => {
  const { datetime, start_datetime: start, end_datetime: end } = properties;
  return [Date.parse(String(start ?? datetime)), Date.parse(String(end ?? datetime))];
};

export const takenWithin = (item: Item, from: number, to: number): boolean => {
  const [start, end] = spanOf(item);
  return start <= to && end >= from;
};

/** A filter in both languages, and its predicate. */
export interface Filter {
  readonly text: string;
  readonly json: unknown;
  readonly holds: Test;
}

const valueOf = (item: Item, name: string): string | number | null =>
  name === 'id' || name === 'collection' ? item[name] : (item.properties[name] ?? null);

const operators: Readonly<Record<string, (a: number | string, b: number | string) => boolean>> = {
  '=': (a, b) => a === b,
  '<>': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

const literal = (value: number | string): string =>
  typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);

export const compare = (name: string, op: string, wanted: number | string): Filter => ({
  text: `${name} ${op} ${literal(wanted)}`,
  json: { op, args: [{ property: name }, wanted] },
  holds: (item) => {
    const value = valueOf(item, name);
    return value === null ? null : (operators[op]?.(value, wanted) ?? null);
  },
});

export const isNull = (name: string): Filter => ({
  text: `"${name}" IS NULL`,
  json: { op: 'isNull', args: [{ property: name }] },
  holds: (item) => valueOf(item, name) === null,
});

export const isIn = (name: string, wanted: readonly string[]): Filter => ({
  text: `${name} IN (${wanted.map(literal).join(', ')})`,
  json: { op: 'in', args: [{ property: name }, wanted] },
  holds: (item) => {
    const value = valueOf(item, name);
    return value === null ? null : wanted.some((it) => it === value);
  },
});

export const between = (name: string, low: number, high: number): Filter => ({
  text: `${name} BETWEEN ${low} AND ${high}`,
  json: { op: 'between', args: [{ property: name }, low, high] },
  holds: (item) => {
    const value = valueOf(item, name);
    return value === null ? null : Number(value) >= low && Number(value) <= high;
  },
});

export const startsWith = (name: string, start: string): Filter => ({
  text: `${name} LIKE '${start}%'`,
  json: { op: 'like', args: [{ property: name }, `${start}%`] },
  holds: (item) => {
    const value = valueOf(item, name);
    return value === null ? null : String(value).startsWith(start);
  },
});

export const after = (time: string): Filter => ({
  text: `T_AFTER(datetime, TIMESTAMP('${time}'))`,
  json: { op: 't_after', args: [{ property: 'datetime' }, { timestamp: time }] },
  holds: (item) => spanOf(item)[0] > Date.parse(time),
});

export const within = (box: Box): Filter => ({
  text: `S_INTERSECTS(geometry, BBOX(${box.join(', ')}))`,
  json: { op: 's_intersects', args: [{ property: 'geometry' }, { bbox: box }] },
  holds: (item) => touchesBox(item, box),
});

export const not = ({ text, json, holds }: Filter): Filter => ({
  text: `NOT (${text})`,
  json: { op: 'not', args: [json] },
  holds: (item) => {
    const held = holds(item);
    return held === null ? null : !held;
  },
});

export const both = (op: 'and' | 'or', one: Filter, other: Filter): Filter => ({
  text: `(${one.text} ${op.toUpperCase()} ${other.text})`,
  json: { op, args: [one.json, other.json] },
  holds: (item) => {
    const [a, b] = [one.holds(item), other.holds(item)];
    const decisive = op === 'or';
    if (a === decisive || b === decisive) return decisive;
    return a === null || b === null ? null : !decisive;
  },
});

/** Newest first, then by collection and id. */
export const usualOrder = (a: Item, b: Item): number =>
  spanOf(b)[0] - spanOf(a)[0] ||
  (a.collection < b.collection ? -1 : a.collection > b.collection ? 1 : 0) ||
  (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

export const orderBy =
  (name: string, direction: 'asc' | 'desc') =>
  (a: Item, b: Item): number => {
    const [one, other] = [valueOf(a, name), valueOf(b, name)];
    if (one === other) return usualOrder(a, b);
    if (one === null) return 1;
    if (other === null) return -1;
    return (one < other ? -1 : 1) * (direction === 'asc' ? 1 : -1);
  };

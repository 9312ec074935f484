import { numberOf, objectOf, stringOf, type JsonObject } from '@toolkeel/pack-kit';
import { boxAround, boxOf, type Box } from '../geometry/box.js';

export interface Bucket {
  readonly key: string;
  readonly count: number;
}

/** How often each value occurs, most frequent first. */
export function frequencies(values: Iterable<string | undefined>): readonly Bucket[] {
  return tally(values).toSorted((a, b) => b.count - a.count || a.key.localeCompare(b.key));
}

function tally(values: Iterable<string | undefined>): readonly Bucket[] {
  const counts = new Map<string, number>();
  for (const value of values) {
    if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return [...counts].map(([key, count]) => ({ key, count }));
}

/** The time of an item, or the start of its interval. */
export function timeOf(item: JsonObject): number | undefined {
  return timeIn(item, ['datetime', 'start_datetime']);
}

/** The time of an item, or the end of its interval. */
export function endOf(item: JsonObject): number | undefined {
  return timeIn(item, ['datetime', 'end_datetime', 'start_datetime']);
}

function timeIn(item: JsonObject, names: readonly string[]): number | undefined {
  const properties = objectOf(item['properties']) ?? {};
  const text = names.map((name) => stringOf(properties[name])).find((value) => value !== undefined);
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : time;
}

export function isoTime(time: number | undefined): string | null {
  return time === undefined ? null : new Date(time).toISOString();
}

export function cloudCoverOf(item: JsonObject): number | undefined {
  const cover = numberOf(objectOf(item['properties'])?.['eo:cloud_cover']);
  return cover !== undefined && cover >= 0 && cover <= 100 ? cover : undefined;
}

export type Interval = 'day' | 'month' | 'year';

const DAY_MS = 86_400_000;
/** How many characters of an ISO date exceed the precision of the interval. */
const EXCESS_LENGTH: Readonly<Record<Interval, number>> = { day: 0, month: 3, year: 6 };

/** Counts items by day, month or year; by default, the interval depends on the time range. */
export function dateHistogram(
  times: readonly number[],
  wanted?: Interval,
): { readonly interval: Interval; readonly buckets: readonly Bucket[] } {
  const [first = 0, last = 0] = [least(times), most(times)];
  const days = (last - first) / DAY_MS;
  const interval = wanted ?? (days <= 62 ? 'day' : days <= 366 * 8 ? 'month' : 'year');
  const keyOf = (time: number) => {
    // Years outside 0 to 9999 have a sign and more than four digits.
    const [date = ''] = new Date(time).toISOString().split('T');
    return date.slice(0, date.length - EXCESS_LENGTH[interval]);
  };
  const sorted = times.toSorted((a, b) => a - b);
  return { interval, buckets: tally(sorted.map(keyOf)) };
}

/** In steps of ten percent. */
export function coverHistogram(covers: readonly number[]): readonly Bucket[] {
  return Array.from({ length: 10 }, (_, index) => {
    const [from, to] = [index * 10, index * 10 + 10];
    const isIn = (cover: number) => cover >= from && (cover < to || (to === 100 && cover === 100));
    return { key: `${from}-${to}`, count: covers.filter(isIn).length };
  });
}

export function spreadOf(values: readonly number[]) {
  if (values.length === 0) return undefined;
  const sorted = values.toSorted((a, b) => a - b);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const round = (value: number) => Number(value.toFixed(2));
  return {
    min: round(sorted[0]!),
    median: round(medianOf(sorted)),
    mean: round(mean),
    max: round(sorted.at(-1)!),
  };
}

/** The median of a sorted, non-empty list. */
export function medianOf(sorted: readonly number[]): number {
  const upper = Math.floor(sorted.length / 2);
  return (sorted[upper]! + sorted[sorted.length - 1 - upper]!) / 2;
}

export function least(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((a, b) => Math.min(a, b));
}

export function most(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((a, b) => Math.max(a, b));
}

export function footprintOf(items: readonly JsonObject[]): Box | undefined {
  return boxAround(
    items.flatMap((item) => {
      const box = boxOf(item['bbox']);
      return box ? [box] : [];
    }),
  );
}

import { docOf, numberOf, textOf, type Doc } from '../json.js';
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

/** When an item was taken; the start of its span if it has one. */
export function timeOf(item: Doc): number | undefined {
  return momentIn(item, ['datetime', 'start_datetime']);
}

/** The same with the end of its span. */
export function endOf(item: Doc): number | undefined {
  return momentIn(item, ['datetime', 'end_datetime', 'start_datetime']);
}

function momentIn(item: Doc, names: readonly string[]): number | undefined {
  const properties = docOf(item['properties']) ?? {};
  const text = names.map((name) => textOf(properties[name])).find((one) => one !== undefined);
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : time;
}

export function cloudCoverOf(item: Doc): number | undefined {
  const cover = numberOf(docOf(item['properties'])?.['eo:cloud_cover']);
  return cover !== undefined && cover >= 0 && cover <= 100 ? cover : undefined;
}

export type Interval = 'day' | 'month' | 'year';

const DAY_MS = 86_400_000;
/** How much of a date is more precise than the interval. */
const TOO_PRECISE: Readonly<Record<Interval, number>> = { day: 0, month: 3, year: 6 };

/** Items by day, month or year: whatever gives a histogram that one can read. */
export function dateHistogram(
  times: readonly number[],
  wanted?: Interval,
): { readonly interval: Interval; readonly buckets: readonly Bucket[] } {
  const [first = 0, last = 0] = [least(times), most(times)];
  const days = (last - first) / DAY_MS;
  const interval = wanted ?? (days <= 62 ? 'day' : days <= 366 * 8 ? 'month' : 'year');
  const keyOf = (time: number) => {
    // A year may have more than four digits, and a sign before them.
    const [date = ''] = new Date(time).toISOString().split('T');
    return date.slice(0, date.length - TOO_PRECISE[interval]);
  };
  const inOrder = times.toSorted((a, b) => a - b);
  return { interval, buckets: tally(inOrder.map(keyOf)) };
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

/** The middle one, or between the two in the middle. They must be sorted, and there must be some. */
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

export function footprintOf(items: readonly Doc[]): Box | undefined {
  return boxAround(
    items.flatMap((item) => {
      const box = boxOf(item['bbox']);
      return box ? [box] : [];
    }),
  );
}

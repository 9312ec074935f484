import { docOf, textOf, type Doc } from '../json.js';
import type { Sample } from '../search/sample.js';
import {
  cloudCoverOf,
  coverHistogram,
  dateHistogram,
  endOf,
  frequencies,
  least,
  most,
  timeOf,
  type Bucket,
} from '../search/statistics.js';
import type { Aggregation } from './specs/get-aggregations.js';

type Counter = (items: readonly Doc[], sample: Sample) => Omit<Aggregation, 'name'>;

const times = (items: readonly Doc[]) => items.flatMap((item) => timeOf(item) ?? []);
const ends = (items: readonly Doc[]) => items.flatMap((item) => endOf(item) ?? []);
const moment = (time: number | undefined) =>
  time === undefined ? null : new Date(time).toISOString();
const asBuckets = (buckets: readonly Bucket[]) => ({
  buckets: buckets.map(({ key, count }) => ({ key, frequency: count })),
});

/** The extreme of a part of the items is not that of all of them. */
const extreme = (value: string | null, { complete }: Sample) => ({
  data_type: 'datetime',
  value: complete ? value : null,
  ...(!complete && value !== null && { sample_value: value }),
});

/** By the names that servers use for them. */
const counters: Readonly<Record<string, Counter>> = {
  total_count: (items, { matched, complete }) => ({
    data_type: 'integer',
    // How many there are is not known from a part of them.
    value: matched ?? (complete ? items.length : null),
  }),
  datetime_min: (items, sample) => extreme(moment(least(times(items))), sample),
  datetime_max: (items, sample) => extreme(moment(most(ends(items))), sample),
  datetime_frequency: (items) => asBuckets(dateHistogram(times(items), 'month').buckets),
  collection_frequency: (items) =>
    asBuckets(frequencies(items.map((item) => textOf(item['collection'])))),
  platform_frequency: (items) =>
    asBuckets(frequencies(items.map((item) => textOf(docOf(item['properties'])?.['platform'])))),
  cloud_cover_frequency: (items) =>
    asBuckets(coverHistogram(items.flatMap((item) => cloudCoverOf(item) ?? []))),
};

/** What can be counted from items at hand, and the names of what cannot. */
export function countLocally(
  sample: Sample,
  names: readonly string[],
): { readonly aggregations: Aggregation[]; readonly unknown: readonly string[] } {
  const known = names.filter((name) => Object.hasOwn(counters, name));
  return {
    aggregations: known.map((name) => ({ name, ...counters[name]!(sample.items, sample) })),
    unknown: names.filter((name) => !known.includes(name)),
  };
}

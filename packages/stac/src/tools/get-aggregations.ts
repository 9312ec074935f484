import { FaultError } from '@toolkeel/kernel';
import {
  badResponse,
  countOf,
  objectOf,
  objectsOf,
  stringOf,
  type JsonObject,
} from '@toolkeel/pack-kit';
import type { CatalogCall } from '../api/catalog-call.js';
import type { Client } from '../api/client.js';
import type { LandingPage } from '../api/landing.js';
import { documentOf } from '../http/requests.js';
import { sampleItems, type Sample } from '../search/collect.js';
import { latestWarning, parseCriteria, type Criteria } from '../search/criteria.js';
import { diagnose, explainRejection } from '../search/diagnose.js';
import { asParameters, checkFilter, searchBody } from '../search/plan.js';
import {
  cloudCoverOf,
  coverHistogram,
  dateHistogram,
  endOf,
  frequencies,
  isoTime,
  least,
  most,
  timeOf,
  type Bucket,
} from '../search/statistics.js';
import { getAggregationsSpec, type Aggregation } from './specs/aggregate.js';
import { catalogTool } from './tool.js';

const DEFAULT_AGGREGATIONS = [
  'total_count',
  'datetime_min',
  'datetime_max',
  'datetime_frequency',
  'collection_frequency',
  'cloud_cover_frequency',
];

export const getAggregationsTool = (client: Client) =>
  catalogTool(getAggregationsSpec, client, async (args, { select }) => {
    const call = select();
    const { catalog } = call;
    const criteria = parseCriteria(args);
    const latest = latestWarning(args.datetime);
    const landing = await call.landing();
    const diagnosis = () => diagnose(call, landing, criteria);
    const counted = landing.aggregate
      ? await aggregateOnServer(call, landing, criteria, args.aggregations).catch(
          (cause: unknown) => explainRejection(cause, diagnosis),
        )
      : undefined;
    if (counted) {
      const isEmpty = counted.aggregations.some(
        ({ name, value }) => name === 'total_count' && value === 0,
      );
      const notes = isEmpty ? await diagnosis() : [];
      return { catalog: catalog.name, ...counted, warnings: [...latest, ...notes] };
    }
    const sample = await sampleItems(call, criteria);
    const { aggregations, unknown } = aggregateLocally(
      sample,
      args.aggregations ?? DEFAULT_AGGREGATIONS,
    );
    return {
      catalog: catalog.name,
      method: 'sample' as const,
      complete: sample.complete,
      sampled: sample.items.length,
      available: null,
      aggregations,
      warnings: [
        ...sample.warnings,
        ...latest,
        ...(sample.complete ? [] : [`Counted from the first ${sample.items.length} items only.`]),
        ...unknown.map((name) => `"${name}" cannot be counted locally.`),
      ],
    };
  });

/** Undefined if the catalogue does not have the endpoint that it advertises. */
async function aggregateOnServer(
  call: CatalogCall,
  landing: LandingPage,
  criteria: Criteria,
  wanted: readonly string[] | undefined,
) {
  const available = wanted ? undefined : await availableNames(call, landing);
  const defaults = DEFAULT_AGGREGATIONS.filter((name) => available?.includes(name) ?? true);
  const names =
    wanted ?? (defaults.length > 0 ? defaults : (available ?? DEFAULT_AGGREGATIONS).slice(0, 10));
  checkFilter(landing, criteria);
  try {
    const doc = await aggregate(call, landing, criteria, names);
    return {
      method: 'server' as const,
      complete: true,
      sampled: null,
      available: available ? [...available] : null,
      aggregations: objectsOf(doc['aggregations']).flatMap(parseAggregation),
    };
  } catch (cause) {
    const status = cause instanceof FaultError ? (cause.fault.status ?? 0) : 0;
    if ([404, 405, 501].includes(status)) return undefined;
    throw cause;
  }
}

async function availableNames(
  call: CatalogCall,
  { aggregations }: LandingPage,
): Promise<readonly string[] | undefined> {
  if (!aggregations) return undefined;
  try {
    const { doc } = await call.get(aggregations, 'aggregations');
    return objectsOf(doc['aggregations']).flatMap(({ name }) => stringOf(name) ?? []);
  } catch (cause) {
    // The list is optional.
    if (cause instanceof FaultError && cause.fault.kind === 'rejected') return undefined;
    throw cause;
  }
}

async function aggregate(
  call: CatalogCall,
  landing: LandingPage,
  criteria: Criteria,
  names: readonly string[],
): Promise<JsonObject> {
  const { capabilities, aggregate: endpoint } = landing;
  const body = searchBody(criteria, capabilities);
  const url = new URL(endpoint!.url);
  const isPost = endpoint!.post;
  if (!isPost) {
    for (const [name, value] of asParameters(body, capabilities)) url.searchParams.set(name, value);
    url.searchParams.set('aggregations', names.join(','));
  }
  const response = await call.send({
    method: isPost ? 'POST' : 'GET',
    url,
    body: isPost ? JSON.stringify({ ...body, aggregations: names }) : undefined,
    route: 'aggregate',
  });
  const { doc } = documentOf(response);
  if (!Array.isArray(doc['aggregations'])) throw badResponse(url, 'no list of aggregations in it');
  return doc;
}

const MAX_SERVER_BUCKETS = 200;

function parseAggregation(doc: JsonObject): Aggregation[] {
  const name = stringOf(doc['name']);
  if (name === undefined) return [];
  const { data_type: type, value, overflow } = doc;
  const buckets = objectsOf(doc['buckets']).flatMap((bucket) => {
    const frequency = countOf(bucket['frequency']);
    const { key } = bucket;
    const isKey = typeof key === 'string' || typeof key === 'number';
    if (frequency === undefined || !isKey) return [];
    return [{ key: String(key), frequency }];
  });
  const beyond = buckets
    .slice(MAX_SERVER_BUCKETS)
    .reduce((sum, { frequency }) => sum + frequency, 0);
  const rest = countOf((countOf(overflow) ?? 0) + beyond) ?? 0;
  return [
    {
      name,
      ...(typeof type === 'string' && { data_type: type }),
      ...((typeof value === 'number' || typeof value === 'string' || value === null) && { value }),
      ...(Array.isArray(doc['buckets']) && { buckets: buckets.slice(0, MAX_SERVER_BUCKETS) }),
      ...(rest > 0 && { overflow: rest }),
    },
  ];
}

type Counter = (items: readonly JsonObject[], sample: Sample) => Omit<Aggregation, 'name'>;

const times = (items: readonly JsonObject[]) => items.flatMap((item) => timeOf(item) ?? []);
const ends = (items: readonly JsonObject[]) => items.flatMap((item) => endOf(item) ?? []);
const asBuckets = (buckets: readonly Bucket[]) => ({
  buckets: buckets.map(({ key, count }) => ({ key, frequency: count })),
});

/** The extreme of a sample is not the extreme of all items. */
const extreme = (value: string | null, { complete }: Sample) => ({
  data_type: 'datetime',
  value: complete ? value : null,
  ...(!complete && value !== null && { sample_value: value }),
});

/** By the aggregation names that servers use. */
const counters: Readonly<Record<string, Counter>> = {
  total_count: (items, { matched, complete }) => ({
    data_type: 'integer',
    value: matched ?? (complete ? items.length : null),
  }),
  datetime_min: (items, sample) => extreme(isoTime(least(times(items))), sample),
  datetime_max: (items, sample) => extreme(isoTime(most(ends(items))), sample),
  datetime_frequency: (items) => asBuckets(dateHistogram(times(items), 'month').buckets),
  collection_frequency: (items) =>
    asBuckets(frequencies(items.map((item) => stringOf(item['collection'])))),
  platform_frequency: (items) =>
    asBuckets(
      frequencies(items.map((item) => stringOf(objectOf(item['properties'])?.['platform']))),
    ),
  cloud_cover_frequency: (items) =>
    asBuckets(coverHistogram(items.flatMap((item) => cloudCoverOf(item) ?? []))),
};

/** Aggregates a sample; `unknown` lists the names that cannot be computed. */
function aggregateLocally(
  sample: Sample,
  names: readonly string[],
): { readonly aggregations: Aggregation[]; readonly unknown: readonly string[] } {
  const known = names.filter((name) => Object.hasOwn(counters, name));
  return {
    aggregations: known.map((name) => ({ name, ...counters[name]!(sample.items, sample) })),
    unknown: names.filter((name) => !known.includes(name)),
  };
}

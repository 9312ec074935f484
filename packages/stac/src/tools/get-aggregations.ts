import { FaultError } from '@toolkeel/kernel';
import type { Catalog } from '../api/catalogs.js';
import type { Client } from '../api/client.js';
import type { Landing } from '../api/landing.js';
import { documentOf } from '../http/documents.js';
import { badAnswer } from '../http/exchange.js';
import { countOf, type Doc, docOf, docsOf, textOf } from '../json.js';
import type { CallContext } from '../call-context.js';
import { asParameters, checkFilter, searchBody } from '../search/plan.js';
import { latestWarning, readCriteria, type Criteria } from '../search/criteria.js';
import { diagnose, explainRejection } from '../search/diagnose.js';
import { type Sample, sampleItems } from '../search/collect.js';
import { catalogTool } from './tool.js';
import { type Aggregation, getAggregationsSpec } from './specs/aggregate.js';
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

const USUAL = [
  'total_count',
  'datetime_min',
  'datetime_max',
  'datetime_frequency',
  'collection_frequency',
  'cloud_cover_frequency',
];

export const getAggregations = (client: Client) =>
  catalogTool(getAggregationsSpec, client, async (args, { scope }) => {
    const catalog = client.catalogs.choose(args);
    const criteria = readCriteria(args);
    const latest = latestWarning(args.datetime);
    const landing = await client.landing(catalog, scope);
    const diagnosis = () => diagnose(client, catalog, landing, criteria, scope);
    const counted = landing.aggregate
      ? await byServer(client, catalog, landing, criteria, args.aggregations, scope).catch(
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
    const sample = await sampleItems(client, catalog, criteria, scope);
    const { aggregations, unknown } = countLocally(sample, args.aggregations ?? USUAL);
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
        ...unknown.map((name) => `"${name}" cannot be counted here.`),
      ],
    };
  });

/** Undefined where the catalogue does not have what it advertised. */
async function byServer(
  client: Client,
  catalog: Catalog,
  landing: Landing,
  criteria: Criteria,
  wanted: readonly string[] | undefined,
  scope: CallContext,
) {
  const available = wanted ? undefined : await availableNames(client, catalog, landing, scope);
  const usual = USUAL.filter((name) => available?.includes(name) ?? true);
  const names = wanted ?? (usual.length > 0 ? usual : (available ?? USUAL).slice(0, 10));
  checkFilter(landing, criteria);
  try {
    const doc = await aggregate(client, catalog, landing, criteria, names, scope);
    return {
      method: 'server' as const,
      complete: true,
      sampled: null,
      available: available ? [...available] : null,
      aggregations: docsOf(doc['aggregations']).flatMap(readAggregation),
    };
  } catch (cause) {
    const status = cause instanceof FaultError ? (cause.fault.status ?? 0) : 0;
    if ([404, 405, 501].includes(status)) return undefined;
    throw cause;
  }
}

async function availableNames(
  client: Client,
  catalog: Catalog,
  { aggregations }: Landing,
  scope: CallContext,
): Promise<readonly string[] | undefined> {
  if (!aggregations) return undefined;
  try {
    const { doc } = await client.get(catalog, aggregations, 'aggregations', scope);
    return docsOf(doc['aggregations']).flatMap((one) => textOf(one['name']) ?? []);
  } catch (cause) {
    // The list is a help, not a condition.
    if (cause instanceof FaultError && cause.fault.kind === 'rejected') return undefined;
    throw cause;
  }
}

async function aggregate(
  client: Client,
  catalog: Catalog,
  landing: Landing,
  criteria: Criteria,
  names: readonly string[],
  scope: CallContext,
): Promise<Doc> {
  const { can, aggregate: place } = landing;
  const body = searchBody(criteria, can);
  const url = new URL(place!.url);
  const isPost = place!.post;
  if (!isPost) {
    for (const [name, value] of asParameters(body, can)) url.searchParams.set(name, value);
    url.searchParams.set('aggregations', names.join(','));
  }
  const answer = await client.gateway.send(
    {
      catalog,
      method: isPost ? 'POST' : 'GET',
      url,
      body: isPost ? JSON.stringify({ ...body, aggregations: names }) : undefined,
      route: 'aggregate',
    },
    scope,
  );
  const { doc } = documentOf(answer);
  if (!Array.isArray(doc['aggregations'])) throw badAnswer(url, 'no list of aggregations in it');
  return doc;
}

const MAX_SERVER_BUCKETS = 200;

function readAggregation(doc: Doc): Aggregation[] {
  const name = textOf(doc['name']);
  if (name === undefined) return [];
  const { data_type: type, value, overflow } = doc;
  const buckets = docsOf(doc['buckets']).flatMap((bucket) => {
    const frequency = countOf(bucket['frequency']);
    const { key } = bucket;
    const isKey = typeof key === 'string' || typeof key === 'number';
    if (frequency === undefined || !isKey) return [];
    return [{ key: String(key), frequency }];
  });
  const beyond = buckets.slice(MAX_SERVER_BUCKETS).reduce((sum, { frequency }) => sum + frequency, 0);
  const rest = countOf((countOf(overflow) ?? 0) + beyond) ?? 0;
  return [
    {
      name,
      ...(typeof type === 'string' && { data_type: type }),
      ...((typeof value === 'number' || typeof value === 'string' || value === null) && { value }),
      ...(Array.isArray(docOf(doc)?.['buckets']) && { buckets: buckets.slice(0, MAX_SERVER_BUCKETS) }),
      ...(rest > 0 && { overflow: rest }),
    },
  ];
}

type Counter = (items: readonly Doc[], sample: Sample) => Omit<Aggregation, 'name'>;

const times = (items: readonly Doc[]) => items.flatMap((item) => timeOf(item) ?? []);
const ends = (items: readonly Doc[]) => items.flatMap((item) => endOf(item) ?? []);
const isoTime = (time: number | undefined) =>
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
  datetime_min: (items, sample) => extreme(isoTime(least(times(items))), sample),
  datetime_max: (items, sample) => extreme(isoTime(most(ends(items))), sample),
  datetime_frequency: (items) => asBuckets(dateHistogram(times(items), 'month').buckets),
  collection_frequency: (items) =>
    asBuckets(frequencies(items.map((item) => textOf(item['collection'])))),
  platform_frequency: (items) =>
    asBuckets(frequencies(items.map((item) => textOf(docOf(item['properties'])?.['platform'])))),
  cloud_cover_frequency: (items) =>
    asBuckets(coverHistogram(items.flatMap((item) => cloudCoverOf(item) ?? []))),
};

/** What can be counted from items at hand, and the names of what cannot. */
function countLocally(
  sample: Sample,
  names: readonly string[],
): { readonly aggregations: Aggregation[]; readonly unknown: readonly string[] } {
  const known = names.filter((name) => Object.hasOwn(counters, name));
  return {
    aggregations: known.map((name) => ({ name, ...counters[name]!(sample.items, sample) })),
    unknown: names.filter((name) => !known.includes(name)),
  };
}

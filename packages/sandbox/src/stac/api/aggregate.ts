import type { RouteContext } from '../../server/upstream.js';
import type { Json, JsonObject } from '../../json.js';
import { compareText } from '../catalogue/catalogue.js';
import { isoTime, type Scene } from '../catalogue/scene.js';
import {
  type Api,
  badParameter,
  JSON_TYPE,
  cacheable,
  link,
  namedCollection,
  respond,
} from './http.js';
import { criteriaOf, readParameters } from '../search/query.js';
import { matching, propertyOf } from '../search/select.js';

interface Aggregation {
  readonly dataType: string;
  readonly bucketType?: string;
  readonly compute: (scenes: readonly Scene[]) => JsonObject;
}

const CLOUD_STEPS = [0, 5, 15, 40, 100];

const aggregations: Readonly<Record<string, Aggregation>> = {
  total_count: { dataType: 'integer', compute: (scenes) => ({ value: scenes.length }) },
  datetime_min: { dataType: 'datetime', compute: (scenes) => ({ value: edge(scenes, Math.min) }) },
  datetime_max: { dataType: 'datetime', compute: (scenes) => ({ value: edge(scenes, Math.max) }) },
  datetime_frequency: frequency(
    'datetime',
    ({ from }) => `${isoTime(from).slice(0, 7)}-01T00:00:00.000Z`,
  ),
  collection_frequency: frequency('string', ({ collection }) => collection),
  platform_frequency: frequency('string', (scene) => propertyOf(scene, 'platform')),
  grid_code_frequency: frequency('string', (scene) => propertyOf(scene, 'grid:code')),
  cloud_cover_frequency: {
    dataType: 'frequency_distribution',
    bucketType: 'numeric',
    compute: cloudCover,
  },
};

function edge(scenes: readonly Scene[], choose: (...values: number[]) => number): string | null {
  return scenes.length === 0 ? null : isoTime(choose(...scenes.map(({ from }) => from)));
}

function frequency(bucketType: string, keyOf: (scene: Scene) => Json): Aggregation {
  return {
    dataType: 'frequency_distribution',
    bucketType,
    compute: (scenes) => {
      const counts = new Map<string, number>();
      for (const scene of scenes) {
        const key = keyOf(scene);
        if (typeof key === 'string') counts.set(key, (counts.get(key) ?? 0) + 1);
      }
      const buckets = [...counts]
        .toSorted(([a], [b]) => compareText(a, b))
        .map(([key, count]) => ({ key, data_type: bucketType, frequency: count }));
      return { buckets, overflow: 0 };
    },
  };
}

/** Buckets include their lower bound; the last one includes both. */
function cloudCover(scenes: readonly Scene[]): JsonObject {
  const covers = scenes
    .map((scene) => propertyOf(scene, 'eo:cloud_cover'))
    .filter((cover) => typeof cover === 'number');
  const buckets = CLOUD_STEPS.slice(0, -1).map((from, at) => {
    const to = CLOUD_STEPS[at + 1] ?? 100;
    const count = covers.filter((cover) => cover >= from && (cover < to || to === 100)).length;
    return { key: `${from}-${to}`, data_type: 'numeric', frequency: count, from, to };
  });
  return { buckets, overflow: 0 };
}

export async function aggregate(api: Api, context: RouteContext): Promise<Response> {
  const { catalogue, traits, urls } = api;
  const collection = namedCollection(api, context);
  const { parameters } = await readParameters(context, traits);
  const { aggregations: asked = [], ...rest } = parameters;
  const names = Array.isArray(asked) ? asked.map(String) : [];
  const unknownName = names.find((name) => !Object.hasOwn(aggregations, name));
  if (unknownName !== undefined) throw badParameter('aggregations', `"${unknownName}" is not one`);
  const withCollection = collection === undefined ? rest : { ...rest, collections: [collection] };
  const scenes = matching(catalogue, criteriaOf(withCollection, catalogue, traits));
  const path = collection === undefined ? '' : `/collections/${collection}`;
  const answer = {
    type: 'AggregationCollection',
    aggregations: names.flatMap((name) => {
      const { dataType, compute } = aggregations[name] ?? {};
      return compute ? [{ name, data_type: dataType, ...compute(scenes) }] : [];
    }),
    links: [link('self', urls.href(`${path}/aggregate`)), link('root', urls.href(''))],
  };
  return respond(200, JSON.stringify(answer), JSON_TYPE);
}

export function aggregationList(api: Api, context: RouteContext): Response {
  const { traits, urls } = api;
  const collection = namedCollection(api, context);
  const path = collection === undefined ? '' : `/collections/${collection}`;
  return cacheable(context, traits, {
    aggregations: Object.entries(aggregations).map(([name, { dataType, bucketType }]) => ({
      name,
      data_type: dataType,
      ...(bucketType !== undefined && { frequency_distribution_data_type: bucketType }),
    })),
    links: [link('self', urls.href(`${path}/aggregations`)), link('root', urls.href(''))],
  });
}

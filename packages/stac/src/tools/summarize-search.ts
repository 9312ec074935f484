import { objectOf, stringOf } from '@toolkeel/pack-kit';
import type { Client } from '../api/client.js';
import { sampleItems } from '../search/collect.js';
import { latestWarning, parseCriteria } from '../search/criteria.js';
import {
  cloudCoverOf,
  coverHistogram,
  dateHistogram,
  endOf,
  footprintOf,
  frequencies,
  isoTime,
  least,
  most,
  spreadOf,
  timeOf,
} from '../search/statistics.js';
import { summarizeSearchSpec } from './specs/aggregate.js';
import { catalogTool } from './tool.js';

const MAX_HISTOGRAM_BUCKETS = 120;

export const summarizeSearchTool = (client: Client) =>
  catalogTool(summarizeSearchSpec, client, async (args, { select }) => {
    const call = select();
    const { catalog } = call;
    const sample = await sampleItems(call, parseCriteria(args));
    const { items, complete, matched } = sample;
    const times = items.flatMap((item) => timeOf(item) ?? []);
    const covers = items.flatMap((item) => cloudCoverOf(item) ?? []);
    const spread = spreadOf(covers);
    const histogram = dateHistogram(times);
    const footprint = footprintOf(items);
    const first = isoTime(least(times));
    const last = isoTime(most(items.flatMap((item) => endOf(item) ?? [])));
    const platforms = items.map((item) => stringOf(objectOf(item['properties'])?.['platform']));
    return {
      catalog: catalog.name,
      count: matched ?? (complete ? items.length : null),
      sampled: items.length,
      complete,
      first_datetime: complete ? first : null,
      last_datetime: complete ? last : null,
      date_histogram: {
        interval: histogram.interval,
        buckets: histogram.buckets.slice(0, MAX_HISTOGRAM_BUCKETS),
      },
      cloud_cover: spread
        ? {
            ...spread,
            ...(!complete && { min: null, max: null }),
            known: covers.length,
            histogram: [...coverHistogram(covers)],
          }
        : null,
      collections: [...frequencies(items.map((item) => stringOf(item['collection'])))].slice(0, 50),
      platforms: [...frequencies(platforms)].slice(0, 50),
      footprint: complete && footprint ? [...footprint] : null,
      sample_extremes: complete
        ? null
        : {
            first_datetime: first,
            last_datetime: last,
            cloud_cover_min: spread?.min ?? null,
            cloud_cover_max: spread?.max ?? null,
            footprint: footprint ? [...footprint] : null,
          },
      warnings: [
        ...sample.warnings,
        ...latestWarning(args.datetime),
        ...(complete ? [] : [`Based on the first ${items.length} items only.`]),
      ],
    };
  });

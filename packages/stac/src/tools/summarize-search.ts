import type { Client } from '../api/client.js';
import { docOf, textOf } from '../json.js';
import { latestWarning, readCriteria } from '../search/criteria.js';
import { sampleItems } from '../search/collect.js';
import {
  cloudCoverOf,
  coverHistogram,
  dateHistogram,
  endOf,
  footprintOf,
  frequencies,
  least,
  most,
  spreadOf,
  timeOf,
} from '../search/statistics.js';
import { catalogTool } from './tool.js';
import { summarizeSearchSpec } from './specs/aggregate.js';

const MAX_HISTOGRAM_BUCKETS = 120;

export const summarizeSearch = (client: Client) =>
  catalogTool(summarizeSearchSpec, client, async (args, { scope }) => {
    const catalog = client.catalogs.choose(args);
    const sample = await sampleItems(client, catalog, readCriteria(args), scope);
    const { items, complete, matched } = sample;
    const times = items.flatMap((item) => timeOf(item) ?? []);
    const covers = items.flatMap((item) => cloudCoverOf(item) ?? []);
    const spread = spreadOf(covers);
    const histogram = dateHistogram(times);
    const footprint = footprintOf(items);
    const first = isoTime(least(times));
    const last = isoTime(most(items.flatMap((item) => endOf(item) ?? [])));
    const platforms = items.map((item) => textOf(docOf(item['properties'])?.['platform']));
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
      collections: [...frequencies(items.map((item) => textOf(item['collection'])))].slice(0, 50),
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
        ...(complete ? [] : [`Drawn from the first ${items.length} items only.`]),
      ],
    };
  });

function isoTime(time: number | undefined): string | null {
  return time === undefined ? null : new Date(time).toISOString();
}

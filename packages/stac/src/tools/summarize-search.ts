import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import type { Client } from '../api/client.js';
import { catalogCodes } from '../faults.js';
import { docOf, textOf } from '../json.js';
import { readCriteria } from '../search/criteria.js';
import { sampleItems } from '../search/sample.js';
import {
  cloudCoverOf,
  coverHistogram,
  dateHistogram,
  footprintOf,
  frequencies,
  least,
  most,
  spreadOf,
  timeOf,
} from '../search/statistics.js';
import { catalogArguments, searchArguments, sortby } from './arguments.js';
import { catalogTool, readTraits } from './tool.js';

const buckets = z.array(z.object({ key: z.string(), count: z.int() }));

export const summarizeSearchSpec = specifyTool({
  ...readTraits,
  name: 'summarize_search',
  title: 'Summarise a search',
  description:
    'Summarises what a search finds without listing it: how many items, when they were taken, how cloudy they are, which collections and platforms they come from and which area they cover.',
  input: z.object({
    ...searchArguments,
    sortby,
    ...catalogArguments,
  }),
  output: z.object({
    catalog: z.string(),
    count: z.int().nullable().describe('How many match in all; null if that is not known.'),
    sampled: z.int().describe('How many items the rest of this answer is drawn from.'),
    complete: z.boolean().describe('Whether these are all.'),
    first_datetime: z.string().nullable(),
    last_datetime: z.string().nullable(),
    date_histogram: z.object({ interval: z.enum(['day', 'month', 'year']), buckets }),
    cloud_cover: z
      .object({
        min: z.number(),
        median: z.number(),
        mean: z.number(),
        max: z.number(),
        known: z.int(),
        histogram: buckets,
      })
      .nullable(),
    collections: buckets,
    platforms: buckets,
    footprint: z
      .array(z.number())
      .nullable()
      .describe(
        '[west, south, east, north] around all footprints; west > east crosses the antimeridian.',
      ),
    warnings: z.array(z.string()),
  }),
  errors: [...catalogCodes, 'unsupported_by_upstream'],
});

const MAX_BUCKETS = 120;

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
    const platforms = items.map((item) => textOf(docOf(item['properties'])?.['platform']));
    return {
      catalog: catalog.name,
      count: matched ?? (complete ? items.length : null),
      sampled: items.length,
      complete,
      first_datetime: moment(least(times)),
      last_datetime: moment(most(times)),
      date_histogram: {
        interval: histogram.interval,
        buckets: histogram.buckets.slice(0, MAX_BUCKETS),
      },
      cloud_cover: spread
        ? { ...spread, known: covers.length, histogram: [...coverHistogram(covers)] }
        : null,
      collections: [...frequencies(items.map((item) => textOf(item['collection'])))].slice(0, 50),
      platforms: [...frequencies(platforms)].slice(0, 50),
      footprint: footprint ? [...footprint] : null,
      warnings: [
        ...sample.warnings,
        ...(complete ? [] : [`Drawn from the first ${items.length} items only.`]),
      ],
    };
  });

function moment(time: number | undefined): string | null {
  return time === undefined ? null : new Date(time).toISOString();
}

import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import { catalogCodes } from '../../codes.js';
import { anyOutputFormat, catalogArguments, searchArguments, sortby } from './arguments.js';
import { readTraits } from './traits.js';

const footprint = z.array(z.number()).nullable();
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
    output_format: anyOutputFormat,
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
        min: z.number().nullable(),
        median: z.number(),
        mean: z.number(),
        max: z.number().nullable(),
        known: z.int(),
        histogram: buckets,
      })
      .nullable(),
    collections: buckets,
    platforms: buckets,
    footprint: footprint.describe(
      '[west, south, east, north] around all footprints; west > east crosses the antimeridian.',
    ),
    sample_extremes: z
      .object({
        first_datetime: z.string().nullable(),
        last_datetime: z.string().nullable(),
        cloud_cover_min: z.number().nullable(),
        cloud_cover_max: z.number().nullable(),
        footprint,
      })
      .nullable()
      .describe(
        'If not complete: minima, maxima and footprint of the sample. Those of all matching items are unknown and null above.',
      ),
    warnings: z.array(z.string()),
  }),
  errors: [...catalogCodes, 'unsupported_by_upstream'],
});

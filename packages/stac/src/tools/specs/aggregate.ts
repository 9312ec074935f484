import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import { anyOutputFormat, catalogArguments, catalogCodes, idList, limit, outputFormat, readTraits, searchArguments, sortby } from './common.js';

const aggregation = z.object({
  name: z.string(),
  data_type: z.string().optional(),
  value: z.union([z.number(), z.string()]).nullable().optional(),
  sample_value: z
    .string()
    .optional()
    .describe('The minimum or maximum among the counted items, where not all were counted.'),
  buckets: z.array(z.object({ key: z.string(), frequency: z.int() })).optional(),
  overflow: z.int().optional(),
});

export type Aggregation = z.output<typeof aggregation>;

export const getAggregationsSpec = specifyTool({
  ...readTraits,
  name: 'get_aggregations',
  title: 'Aggregations',
  description:
    'Counts what a search would find: in all, over time, by collection, platform or cloud cover. The catalogue counts where it can; else a bounded sample of items is counted here, and the answer says so.',
  input: z.object({
    ...searchArguments,
    aggregations: idList
      .optional()
      .describe('Names, e.g. ["total_count", "datetime_frequency"]; left out: the usual ones.'),
    output_format: anyOutputFormat,
    ...catalogArguments,
  }),
  output: z.object({
    catalog: z.string(),
    method: z.enum(['server', 'sample']).describe('Who counted.'),
    complete: z.boolean().describe('Whether all matching items were counted.'),
    sampled: z.int().nullable().describe('How many items were counted here.'),
    available: z.array(z.string()).nullable().describe('What the catalogue can aggregate.'),
    aggregations: z.array(aggregation),
    warnings: z.array(z.string()),
  }),
  errors: [...catalogCodes, 'unsupported_by_upstream'],
});

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

const bytes = z.int().min(0);
const share = z.number().min(0).max(1);
export const part = z.object({ assets: z.int(), share, bytes: bytes.nullable() });

export const estimateDataSizeSpec = specifyTool({
  ...readTraits,
  name: 'estimate_data_size',
  title: 'Estimate data size',
  description:
    'Estimates how many bytes the assets of a search would be to download: from file sizes in the metadata, from raster shapes and data types, from HEAD requests. Says which share each method covers, how far off it may be, and how much of it lies inside the area. What is not known is said to be unknown.',
  input: z.object({
    ...searchArguments,
    aoi_geojson: searchArguments.intersects.describe(
      'The area of interest as GeoJSON: how much of the data lies inside it.',
    ),
    assets: idList.optional().describe('Only these assets of each item, e.g. ["red", "nir"].'),
    limit: limit(10_000).describe(
      'How many items to look at, 200 at most; the size of all that match is extrapolated. Default: 10.',
    ),
    force_metadata_only: z
      .boolean()
      .default(false)
      .describe('Whether to make no HEAD requests to the files.'),
    output_format: outputFormat,
    ...catalogArguments,
  }),
  output: z.object({
    catalog: z.string(),
    item_count: z.int(),
    asset_count: z.int(),
    matched: z.int().nullable(),
    estimated_size_bytes: bytes
      .nullable()
      .describe('null: nothing is known. Unknown assets are not in it.'),
    estimated_size_mb: z.number().nullable().describe('In megabytes of 10^6 bytes.'),
    estimated_size_gb: z.number().nullable().describe('In gigabytes of 10^9 bytes.'),
    low_bytes: bytes.nullable(),
    high_bytes: bytes
      .nullable()
      .describe('null: it may be any size, because the size of some assets is unknown.'),
    all_matched_bytes: bytes
      .nullable()
      .describe('For all items that match: their number times the mean of those looked at.'),
    all_matched_low_bytes: bytes.nullable(),
    all_matched_high_bytes: bytes.nullable(),
    aoi: z
      .object({
        fraction: share,
        clipped_size_bytes: bytes.nullable(),
        low_bytes: bytes.nullable(),
        high_bytes: bytes.nullable(),
      })
      .nullable(),
    coverage: z.object({
      file_size: part,
      proj_shape: part,
      head: part,
      inferred: part,
      unknown: part,
    }),
    by_asset: z.array(
      z.object({
        asset: z.string(),
        assets: z.int(),
        bytes: bytes.nullable(),
        low_bytes: bytes.nullable(),
        high_bytes: bytes.nullable(),
        unknown: z.int(),
      }),
    ),
    warnings: z.array(z.string()),
  }),
  errors: [...catalogCodes, 'unsupported_by_upstream'],
});

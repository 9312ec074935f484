import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import {
  anyOutputFormat,
  catalogArguments,
  catalogCodes,
  idList,
  limit,
  outputFormat,
  readTraits,
  searchArguments,
  sortby,
} from './common.js';

const aggregation = z.object({
  name: z.string(),
  data_type: z.string().optional(),
  value: z.union([z.number(), z.string()]).nullable().optional(),
  sample_value: z
    .string()
    .optional()
    .describe('The minimum or maximum of the sample, if not all items were counted.'),
  buckets: z.array(z.object({ key: z.string(), frequency: z.int() })).optional(),
  overflow: z.int().optional(),
});

export type Aggregation = z.output<typeof aggregation>;

export const getAggregationsSpec = specifyTool({
  ...readTraits,
  name: 'get_aggregations',
  title: 'Aggregations',
  description:
    'Counts the items of a search: in total, over time, by collection, platform or cloud cover. If the catalogue cannot, a bounded sample is counted, and the result says so.',
  input: z.object({
    ...searchArguments,
    aggregations: idList
      .optional()
      .describe('Names, e.g. ["total_count", "datetime_frequency"]. Default: the common ones.'),
    output_format: anyOutputFormat,
    ...catalogArguments,
  }),
  output: z.object({
    catalog: z.string(),
    method: z
      .enum(['server', 'sample'])
      .describe('Whether the catalogue or a local sample was counted.'),
    complete: z.boolean().describe('Whether all matching items were counted.'),
    sampled: z.int().nullable().describe('Number of items counted locally.'),
    available: z
      .array(z.string())
      .nullable()
      .describe('The aggregations that the catalogue offers.'),
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
    'Summarises the items of a search without listing them: number, dates, cloud cover, collections, platforms and covered area.',
  input: z.object({
    ...searchArguments,
    sortby,
    output_format: anyOutputFormat,
    ...catalogArguments,
  }),
  output: z.object({
    catalog: z.string(),
    count: z.int().nullable().describe('Total number of matches; null if unknown.'),
    sampled: z.int().describe('Number of items that the statistics are based on.'),
    complete: z.boolean().describe('Whether the sample contains all matches.'),
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
  description:
    'Estimates the download size of the assets of a search from metadata, HEAD requests and raster shapes: with a range, the share of each method, and the part inside an area.',
  input: z.object({
    ...searchArguments,
    aoi_geojson: searchArguments.intersects.describe('Area of interest as GeoJSON.'),
    assets: idList.optional().describe('Only these, e.g. ["red", "nir"].'),
    limit: limit(10_000).describe(
      'Items to estimate, at most 200; the rest is extrapolated. Default: 10.',
    ),
    force_metadata_only: z.boolean().default(false).describe('Sends no HEAD requests.'),
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
      .describe('Without assets of unknown size; null if all are unknown.'),
    estimated_size_mb: z.number().nullable().describe('In megabytes of 10^6 bytes.'),
    estimated_size_gb: z.number().nullable().describe('In gigabytes of 10^9 bytes.'),
    low_bytes: bytes.nullable(),
    high_bytes: bytes
      .nullable()
      .describe('null: no upper bound, because the size of some assets is unknown.'),
    all_matched_bytes: bytes
      .nullable()
      .describe('For all matches: their number times the mean of the estimated items.'),
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

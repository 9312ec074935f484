import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import { catalogCodes } from '../../codes.js';
import { catalogArguments, idList, limit, outputFormat, searchArguments } from './arguments.js';
import { readTraits } from './traits.js';

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

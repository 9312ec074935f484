import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import { catalogCodes } from '../../codes.js';
import { anyOutputFormat, catalogArguments, idList, searchArguments } from './arguments.js';
import { readTraits } from './traits.js';

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

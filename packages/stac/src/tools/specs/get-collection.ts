import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import { catalogCodes } from '../../codes.js';
import { catalogArguments, fields, id, outputFormat } from './arguments.js';
import { readTraits } from './traits.js';

export const getCollectionSpec = specifyTool({
  ...readTraits,
  name: 'get_collection',
  title: 'One collection',
  description:
    'Reads one collection: what it contains, its extent in space and time, its licence and providers. With output_format "json" or `fields` also summaries, item assets and everything else.',
  input: z.object({
    collection_id: id.describe('The id of the collection.'),
    fields,
    output_format: outputFormat,
    ...catalogArguments,
  }),
  output: z.object({
    catalog: z.string(),
    collection: z.looseObject({ id: z.string() }),
  }),
  errors: catalogCodes,
});

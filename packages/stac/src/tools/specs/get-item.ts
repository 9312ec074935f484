import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import { catalogCodes } from '../../codes.js';
import { assets, catalogArguments, fields, id, outputFormat, signAssets } from './arguments.js';
import { readTraits } from './traits.js';

export const getItemSpec = specifyTool({
  ...readTraits,
  name: 'get_item',
  title: 'One item',
  description:
    'Reads one item of a collection: its properties, its footprint and the URLs of its assets.',
  input: z.object({
    collection_id: id.describe('The id of the collection.'),
    item_id: id.describe('The id of the item.'),
    fields,
    assets,
    sign_assets: signAssets,
    output_format: outputFormat,
    ...catalogArguments,
  }),
  output: z.object({
    catalog: z.string(),
    item: z.looseObject({ id: z.string() }),
    warnings: z.array(z.string()),
  }),
  errors: [...catalogCodes, 'unsupported_by_upstream'],
});

import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import type { Catalog } from '../api/catalog.js';
import type { Client } from '../api/client.js';
import { getItem as load } from '../api/get.js';
import { catalogCodes } from '../faults.js';
import type { Doc } from '../json.js';
import type { Scope } from '../scope.js';
import { project, readFields } from '../search/fields.js';
import { unsupported } from '../search/plan.js';
import { catalogArguments, fields, id, outputFormat, signAssets } from './arguments.js';
import { itemDetails } from './summaries.js';
import { catalogTool, readTraits } from './tool.js';

export const getItemSpec = specifyTool({
  ...readTraits,
  name: 'get_item',
  title: 'One item',
  description:
    'Reads one item of a collection: its properties, its footprint and the addresses of its assets.',
  input: z.object({
    collection_id: id.describe('The id of the collection.'),
    item_id: id.describe('The id of the item.'),
    fields,
    sign_assets: signAssets,
    output_format: outputFormat,
    ...catalogArguments,
  }),
  output: z.object({ catalog: z.string(), item: z.looseObject({ id: z.string() }) }),
  errors: [...catalogCodes, 'unsupported_by_upstream'],
});

export const getItem = (client: Client) =>
  catalogTool(getItemSpec, client, async (args, { scope }) => {
    const catalog = client.catalogs.choose(args);
    if (args.sign_assets) needSigning(catalog);
    const doc = await load(client, catalog, [args.collection_id, args.item_id], scope);
    const item = args.sign_assets ? await signed(client, catalog, doc, scope) : doc;
    const isBrief = args.output_format === 'text' && args.fields === undefined;
    const shown = isBrief ? itemDetails(item) : project(item, readFields(args.fields));
    return { catalog: catalog.name, item: { ...shown, id: String(doc['id']) } };
  });

async function signed(client: Client, catalog: Catalog, item: Doc, scope: Scope): Promise<Doc> {
  const [first = item] = await client.signer.signItems(catalog, [item], scope);
  return first;
}

/** Better no answer than unsigned addresses that look like signed ones. */
export function needSigning({ name, signing }: Catalog): void {
  if (!signing) {
    unsupported('sign_assets', `${name} has no signing. Ask again without \`sign_assets\`.`);
  }
}

import type { Catalog } from '../api/catalog.js';
import type { Client } from '../api/client.js';
import { getItem as load } from '../api/get.js';
import type { Doc } from '../json.js';
import type { Scope } from '../scope.js';
import { project, readFields } from '../search/fields.js';
import { unsupported } from '../search/plan.js';
import { itemDetails } from './summaries.js';
import { catalogTool } from './tool.js';
import { getItemSpec } from './specs/get-item.js';

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

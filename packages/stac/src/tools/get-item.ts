import type { Client } from '../api/client.js';
import { getItem as load } from '../api/get.js';
import { unseenFields } from '../search/diagnose.js';
import { project, readFields } from '../search/fields.js';
import {
  assetWarnings,
  needSigning,
  signedItems,
  unsignedWarning,
  withAssets,
  withOnly,
} from './assets.js';
import { itemDetails } from './summaries.js';
import { catalogTool } from './tool.js';
import { getItemSpec } from './specs/get-item.js';

export const getItem = (client: Client) =>
  catalogTool(getItemSpec, client, async (args, { scope }) => {
    const catalog = client.catalogs.choose(args);
    if (args.sign_assets) needSigning(catalog);
    const doc = await load(client, catalog, [args.collection_id, args.item_id], scope);
    const { assets: wanted } = args;
    const [item = doc] = args.sign_assets
      ? await signedItems(client, catalog, [doc], wanted, scope)
      : [doc];
    const isBrief = args.output_format === 'text' && args.fields === undefined;
    const fields = readFields(args.fields);
    const shown = isBrief
      ? itemDetails(item, wanted)
      : project(withOnly(item, wanted), wanted ? withAssets(fields) : fields);
    return {
      catalog: catalog.name,
      item: { ...shown, id: String(doc['id']) },
      warnings: [
        ...unseenFields([doc], fields),
        ...assetWarnings([doc], wanted ?? []),
        ...(args.sign_assets ? unsignedWarning([shown]) : []),
      ],
    };
  });

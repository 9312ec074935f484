import type { Client } from '../api/client.js';
import { getCollection as load } from '../api/get.js';
import { project, readFields } from '../search/fields.js';
import { collectionSummary, providersOf, withoutLinks } from './summaries.js';
import { catalogTool } from './tool.js';
import { getCollectionSpec } from './specs/get-collection.js';

export const getCollection = (client: Client) =>
  catalogTool(getCollectionSpec, client, async (args, { scope }) => {
    const catalog = client.catalogs.choose(args);
    const doc = await load(client, catalog, args.collection_id, scope);
    const whole = withoutLinks(doc);
    const brief = () => ({
      ...collectionSummary(doc),
      description: doc['description'] ?? null,
      providers: providersOf(doc),
    });
    const isBrief = args.output_format === 'text' && args.fields === undefined;
    const shown = isBrief ? brief() : project(whole, readFields(args.fields));
    return { catalog: catalog.name, collection: { ...shown, id: String(doc['id']) } };
  });

import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import type { Client } from '../api/client.js';
import { getCollection as load } from '../api/get.js';
import { catalogCodes } from '../faults.js';
import { project, readFields } from '../search/fields.js';
import { catalogArguments, fields, id, outputFormat } from './arguments.js';
import { collectionSummary, providersOf, withoutLinks } from './summaries.js';
import { catalogTool, readTraits } from './tool.js';

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

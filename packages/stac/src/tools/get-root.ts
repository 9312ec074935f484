import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import type { Client } from '../api/client.js';
import { linksOf } from '../api/links.js';
import { catalogCodes } from '../faults.js';
import { compact, textOf } from '../json.js';
import { oneLine } from '../text.js';
import { catalogArguments } from './arguments.js';
import { catalogTool, readTraits } from './tool.js';

export const getRootSpec = specifyTool({
  ...readTraits,
  name: 'get_root',
  title: 'Catalogue root',
  description:
    'Reads the landing page of a STAC catalogue: what it is, which version it speaks, how many links it has and which collections or children it names.',
  input: z.object(catalogArguments),
  output: z.object({
    catalog: z.string(),
    url: z.string(),
    id: z.string().optional(),
    title: z.string().optional(),
    description: z.string().optional(),
    stac_version: z.string().optional(),
    kind: z.enum(['api', 'static']),
    links_count: z.int(),
    conformance_count: z.int(),
    children: z.array(z.object({ title: z.string().optional(), href: z.string() })),
  }),
  errors: catalogCodes,
});

const MAX_CHILDREN = 100;

export const getRoot = (client: Client) =>
  catalogTool(getRootSpec, client, async (args, { scope }) => {
    const catalog = client.catalogs.choose(args);
    const landing = await client.landing(catalog, scope, { fresh: true });
    const { doc, kind, url, conformsTo } = landing;
    const links = linksOf(doc);
    const children = links.filter(({ rel }) => rel === 'child').slice(0, MAX_CHILDREN);
    const description = textOf(doc['description']);
    return {
      ...compact({
        id: textOf(doc['id']),
        title: textOf(doc['title']),
        description: description && oneLine(description, 1000),
        stac_version: textOf(doc['stac_version']),
      }),
      catalog: catalog.name,
      url: url.href,
      kind,
      links_count: links.length,
      conformance_count: conformsTo.length,
      children: children.map(({ title, href }) => ({ ...(title && { title }), href })),
    };
  });

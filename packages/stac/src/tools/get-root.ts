import type { Client } from '../api/client.js';
import { linksOf } from '../api/links.js';
import { compact, textOf } from '../json.js';
import { oneLine } from '../text.js';
import { conformanceWarning } from './failure.js';
import { withoutLinks } from './summaries.js';
import { catalogTool } from './tool.js';
import { getRootSpec } from './specs/get-root.js';

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
      ...(args.output_format === 'json' && { document: withoutLinks(doc) }),
      warnings: [...conformanceWarning(landing)],
    };
  });

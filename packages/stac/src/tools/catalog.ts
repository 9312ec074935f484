import { implementTool } from '@toolkeel/contract';
import { compact, oneLine, stringOf } from '@toolkeel/pack-kit';
import type { Client } from '../api/client.js';
import { capabilityNames, includesClass } from '../api/landing.js';
import { linksOf } from '../api/links.js';
import { sensors } from '../size/metadata.js';
import {
  getCatalogCapabilitiesSpec,
  getConformanceSpec,
  getRootSpec,
  getSensorRegistryInfoSpec,
} from './specs/catalog.js';
import { withoutLinks } from './summaries.js';
import { catalogTool, conformanceWarning } from './tool.js';

const MAX_CHILDREN = 100;

export const getRootTool = (client: Client) =>
  catalogTool(getRootSpec, client, async (args, { select }) => {
    const call = select();
    const { catalog } = call;
    const landing = await call.landing({ fresh: true });
    const { doc, kind, url, conformsTo } = landing;
    const links = linksOf(doc);
    const children = links.filter(({ rel }) => rel === 'child').slice(0, MAX_CHILDREN);
    const description = stringOf(doc['description']);
    return {
      ...compact({
        id: stringOf(doc['id']),
        title: stringOf(doc['title']),
        description: description && oneLine(description, 1000),
        stac_version: stringOf(doc['stac_version']),
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

export const getConformanceTool = (client: Client) =>
  catalogTool(getConformanceSpec, client, async (args, { select }) => {
    const call = select();
    const { catalog } = call;
    const landing = await call.landing({ fresh: true });
    if (landing.conformanceFault) throw landing.conformanceFault;
    const classes = landing.conformsTo;
    const checks = args.check?.map((uri) => ({ uri, conforms: includesClass(classes, uri) }));
    return {
      catalog: catalog.name,
      conforms_to: [...classes],
      ...(checks && { checks }),
    };
  });

export const getCatalogCapabilitiesTool = (client: Client) =>
  catalogTool(getCatalogCapabilitiesSpec, client, async (_args, { select }) => {
    const call = select();
    const { catalog } = call;
    const landing = await call.landing({ fresh: true });
    const { capabilities, kind, search, doc } = landing;
    const version = stringOf(doc['stac_version']);
    const named = capabilityNames.map((name) => [name, capabilities.has(name)] as const);
    const supports = {
      ...Object.fromEntries(named),
      // Many servers only provide the link or only the conformance class.
      queryables: landing.queryables !== undefined || capabilities.has('filter'),
      aggregation: landing.aggregate !== undefined,
      sign_assets: catalog.signing !== undefined,
    };
    const post = client.mayPost(catalog, landing);
    return {
      catalog: catalog.name,
      url: landing.url.href,
      kind,
      ...(version !== undefined && { stac_version: version }),
      search: {
        available: search !== undefined || kind === 'static',
        methods: search
          ? [...(search.get ? (['GET'] as const) : []), ...(post ? (['POST'] as const) : [])]
          : [],
      },
      supports,
      instead: fallbacks(supports, kind),
      configured_catalogs: [...client.catalogs.names],
      warnings: [...conformanceWarning(landing)],
    };
  });

/** How the pack replaces capabilities that the catalogue lacks. */
function fallbacks(supports: Readonly<Record<string, boolean>>, kind: string): string[] {
  const rules: readonly (readonly [boolean, string])[] = [
    [kind === 'static', 'Searches read the catalogue’s files, within limits.'],
    [!supports['aggregation'], 'get_aggregations counts a bounded sample of items.'],
    [
      !supports['collection_free_text'],
      'search_collections reads all collections and searches them locally.',
    ],
    [!supports['fields'], '`fields` is applied locally.'],
    [!supports['query'] && supports['filter'] === true, '`query` is translated to CQL2.'],
    [!supports['query'] && supports['filter'] !== true, '`query` is applied locally to each page.'],
  ];
  return rules.flatMap(([applies, text]) => (applies ? [text] : []));
}

export const getSensorRegistryInfoTool = () =>
  implementTool(getSensorRegistryInfoSpec, {
    handler: async () => ({ count: sensors.length, sensors: sensors.map(toOutput) }),
  });

function toOutput({ collection, data_type, assets }: (typeof sensors)[number]) {
  return { collection, data_type, ...(assets && { assets: { ...assets } }) };
}

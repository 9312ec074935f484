import type { Client } from '../api/client.js';
import { linksOf } from '../api/links.js';
import { compact, textOf } from '../json.js';
import { oneLine } from '../text.js';
import { catalogTool, conformanceWarning } from './tool.js';
import { withoutLinks } from './summaries.js';
import { getCatalogCapabilitiesSpec, getConformanceSpec, getRootSpec, getSensorRegistryInfoSpec } from './specs/catalog.js';
import { capabilityNames, conformsTo } from '../api/landing.js';
import { implementTool } from '@toolkeel/contract';
import { sensors } from '../size/metadata.js';

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

export const getConformance = (client: Client) =>
  catalogTool(getConformanceSpec, client, async (args, { scope }) => {
    const catalog = client.catalogs.choose(args);
    const landing = await client.landing(catalog, scope, { fresh: true });
    if (landing.conformanceFault) throw landing.conformanceFault;
    const classes = landing.conformsTo;
    const checks = args.check?.map((uri) => ({ uri, conforms: conformsTo(classes, uri) }));
    return {
      catalog: catalog.name,
      conforms_to: [...classes],
      ...(checks && { checks }),
    };
  });

export const getCatalogCapabilities = (client: Client) =>
  catalogTool(getCatalogCapabilitiesSpec, client, async (args, { scope }) => {
    const catalog = client.catalogs.choose(args);
    const landing = await client.landing(catalog, scope, { fresh: true });
    const { can, kind, search, doc } = landing;
    const version = textOf(doc['stac_version']);
    const named = capabilityNames.map((name) => [name, can.has(name)] as const);
    const supports = {
      ...Object.fromEntries(named),
      // A link is as good as a class: many servers name only one of the two.
      queryables: landing.queryables !== undefined || can.has('filter'),
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
      instead: insteadOf(supports, kind),
      configured_catalogs: [...client.catalogs.names],
      warnings: [...conformanceWarning(landing)],
    };
  });

function insteadOf(supports: Readonly<Record<string, boolean>>, kind: string): string[] {
  const rules: readonly (readonly [boolean, string])[] = [
    [kind === 'static', 'Searches walk the catalogue’s files, within limits.'],
    [!supports['aggregation'], 'get_aggregations counts a bounded sample of items.'],
    [!supports['collection_free_text'], 'search_collections looks through all collections here.'],
    [!supports['fields'], '`fields` is applied to the answer here.'],
    [!supports['query'] && supports['filter'] === true, '`query` is translated to CQL2.'],
    [
      !supports['query'] && supports['filter'] !== true,
      '`query` is applied to each page of the answer here.',
    ],
  ];
  return rules.flatMap(([applies, text]) => (applies ? [text] : []));
}

export const getSensorRegistryInfo = () =>
  implementTool(getSensorRegistryInfoSpec, {
    handler: async () => ({ count: sensors.length, sensors: sensors.map(listed) }),
  });

function listed({ collection, data_type, assets }: (typeof sensors)[number]) {
  return { collection, data_type, ...(assets && { assets: { ...assets } }) };
}

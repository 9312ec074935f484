import type { Client } from '../api/client.js';
import { capabilityNames } from '../api/conformance.js';
import { textOf } from '../json.js';
import { conformanceWarning } from './failure.js';
import { catalogTool } from './tool.js';
import { getCatalogCapabilitiesSpec } from './specs/get-catalog-capabilities.js';

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

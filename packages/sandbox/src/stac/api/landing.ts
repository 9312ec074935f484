import type { RouteContext } from '../../front/routes.js';
import type { JsonObject } from '../../json.js';
import { conformanceOf } from '../flavour/conformance.js';
import {
  GEOJSON_TYPE,
  JSON_TYPE,
  link,
  OPENAPI_TYPE,
  QUERYABLES_REL,
  SCHEMA_TYPE,
  type Link,
} from '../present/links.js';
import type { Api } from './api.js';
import { lasting } from './respond.js';

export function landing({ traits, places, catalogue }: Api, context: RouteContext): Response {
  return lasting(context, traits, {
    type: 'Catalog',
    stac_version: traits.stacVersion,
    id: 'toolkeel-sandbox',
    title: 'Toolkeel sandbox',
    description: 'A STAC API over an invented catalogue, which fails on command.',
    conformsTo: conformanceOf(traits),
    links: landingLinks({ traits, places, catalogue }),
  });
}

function landingLinks({ traits, places: { href }, catalogue }: Api): Link[] {
  const methods = traits.postSearch ? ['GET', 'POST'] : ['GET'];
  return [
    link('self', href('')),
    link('root', href('')),
    link('service-desc', href('/api'), OPENAPI_TYPE),
    ...(traits.features
      ? [link('conformance', href('/conformance')), link('data', href('/collections'))]
      : []),
    // A small server does not mention methods: a search link without one means GET.
    ...methods.map((method) =>
      link('search', href('/search'), GEOJSON_TYPE, traits.postSearch ? { method } : {}),
    ),
    ...(traits.filter.length > 0 ? [link(QUERYABLES_REL, href('/queryables'), SCHEMA_TYPE)] : []),
    ...(traits.aggregation
      ? [
          ...methods.map((method) => link('aggregate', href('/aggregate'), JSON_TYPE, { method })),
          link('aggregations', href('/aggregations')),
        ]
      : []),
    ...catalogue.products.map(({ id, title }) =>
      link('child', href(`/collections/${id}`), JSON_TYPE, { title }),
    ),
  ];
}

export function conformance({ traits }: Api, context: RouteContext): Response {
  return lasting(context, traits, { conformsTo: conformanceOf(traits) });
}

/** The service description: which paths there are, not more. */
export function description(
  { traits, places }: Api,
  context: RouteContext,
  operations: readonly (readonly [method: string, path: string, name: string])[],
): Response {
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const [method, path, name] of operations) {
    const template = path.replaceAll(/:(\w+)/g, '{$1}') || '/';
    paths[template] = {
      ...paths[template],
      [method.toLowerCase()]: { summary: name, responses: { default: { description: name } } },
    };
  }
  const info = { title: 'Toolkeel sandbox', version: traits.apiVersion };
  const servers = [{ url: places.api }];
  return lasting(context, traits, { openapi: '3.0.3', info, servers, paths }, OPENAPI_TYPE);
}

import type { RouteContext } from '../../front/routes.js';
import { SCHEMA_TYPE } from '../present/links.js';
import { offeredQueryables } from '../search/vocabulary.js';
import type { Api } from './api.js';
import { notFound } from './problem.js';
import { lasting } from './respond.js';

export function queryables({ traits, catalogue, places }: Api, context: RouteContext): Response {
  const collection = context.req.param('collection');
  if (collection !== undefined && !catalogue.product(collection))
    throw notFound(`Collection ${collection}`);
  const path = collection === undefined ? '/queryables' : `/collections/${collection}/queryables`;
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: places.api + path,
    type: 'object',
    title: `Queryables of ${collection ?? 'all collections'}`,
    properties: offeredQueryables(catalogue, traits, collection),
    additionalProperties: traits.unknownProperties === 'ignore',
  };
  return lasting(context, traits, schema, SCHEMA_TYPE);
}

import { FaultError } from '@toolkeel/kernel';
import type * as z from 'zod';
import type { Catalog } from '../api/catalog.js';
import type { Client } from '../api/client.js';
import { collectionsUrl, getCollection } from '../api/get.js';
import type { Landing } from '../api/landing.js';
import { below, linkTo, resolveLink } from '../api/links.js';
import { docOf, isDoc, listOf, numberOf, textOf, type Doc } from '../json.js';
import type { Scope } from '../scope.js';
import { unsupported } from '../search/plan.js';
import { oneLine } from '../text.js';
import { catalogTool } from './tool.js';
import { getQueryablesSpec, type property } from './specs/get-queryables.js';

export const getQueryables = (client: Client) =>
  catalogTool(getQueryablesSpec, client, async (args, { scope }) => {
    const catalog = client.catalogs.choose(args);
    const ids = [...new Set(args.collection_id ?? [])];
    const landing = await client.landing(catalog, scope);
    if (landing.kind === 'static') none(catalog);
    const schemas =
      ids.length === 0
        ? [{ id: undefined, schema: await ofCatalog(client, catalog, landing, scope) }]
        : await Promise.all(
            ids.map(async (id) => ({
              id,
              schema: await ofCollection(client, catalog, landing, id, scope),
            })),
          );
    return {
      catalog: catalog.name,
      collections: ids,
      properties: merged(schemas, args.output_format === 'json'),
      additional_properties: schemas.every(
        ({ schema }) => schema['additionalProperties'] !== false,
      ),
    };
  });

async function ofCatalog(client: Client, catalog: Catalog, landing: Landing, scope: Scope) {
  const url = landing.queryables ?? below(landing.url, 'queryables');
  const schema = await unlessMissing(client.get(catalog, url, 'queryables', scope));
  return schema ?? none(catalog);
}

/** At its usual place, else where the collection's own link leads. */
async function ofCollection(
  client: Client,
  catalog: Catalog,
  landing: Landing,
  id: string,
  scope: Scope,
): Promise<Doc> {
  const usual = below(collectionsUrl(landing), id, 'queryables');
  const found = await unlessMissing(client.get(catalog, usual, 'queryables', scope));
  if (found) return found;
  const collection = await getCollection(client, catalog, id, scope);
  const link = linkTo(collection, 'queryables');
  const place = link && resolveLink(link.href, below(collectionsUrl(landing), id));
  if (!place || place.href === usual.href) return none(catalog);
  const { doc } = await client.get(catalog, place, 'queryables', scope);
  return doc;
}

async function unlessMissing(loading: Promise<{ readonly doc: Doc }>): Promise<Doc | undefined> {
  try {
    const { doc } = await loading;
    return isDoc(doc['properties']) ? doc : undefined;
  } catch (cause) {
    const status = cause instanceof FaultError ? (cause.fault.status ?? 0) : 0;
    if ([404, 405, 410, 501].includes(status)) return undefined;
    throw cause;
  }
}

function none({ name }: Catalog): never {
  return unsupported(
    'queryables',
    `${name} does not say what can be queried. Look at the properties of an item instead.`,
  );
}

const MAX_VALUES = 50;

/** The properties of all schemas; a name that they share is listed once. */
function merged(
  schemas: readonly { readonly id: string | undefined; readonly schema: Doc }[],
  isWhole: boolean,
): z.output<typeof property>[] {
  const all = new Map<string, { readonly schema: Doc; readonly collections: string[] }>();
  for (const { id, schema } of schemas) {
    for (const [name, one] of Object.entries(docOf(schema['properties']) ?? {})) {
      const entry = all.get(name) ?? { schema: docOf(one) ?? {}, collections: [] };
      if (id !== undefined) entry.collections.push(id);
      all.set(name, entry);
    }
  }
  return [...all].map(([name, { schema, collections }]) => ({
    name,
    ...described(schema, isWhole),
    ...(schemas.length > 1 && { collections }),
  }));
}

function described(schema: Doc, isWhole: boolean): Omit<z.output<typeof property>, 'name'> {
  const { title, description, minimum, maximum, format, $ref } = schema;
  const type =
    listOf(schema['type']).length > 0 ? listOf(schema['type']).join(' | ') : textOf(schema['type']);
  const values = listOf(schema['enum']);
  const known = {
    type,
    title: textOf(title),
    description: isWhole
      ? textOf(description)
      : textOf(description) && oneLine(String(description), 200),
    enum: values.length > 0 ? values.slice(0, isWhole ? undefined : MAX_VALUES) : undefined,
    minimum: numberOf(minimum),
    maximum: numberOf(maximum),
    format: textOf(format),
    // Remote schemas are named, not fetched.
    ref: textOf($ref),
  };
  return Object.fromEntries(
    Object.entries(known).filter(([, value]) => value !== undefined && value !== ''),
  );
}

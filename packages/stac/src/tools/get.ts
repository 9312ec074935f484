import { FaultError } from '@toolkeel/kernel';
import { type Doc, docOf, isDoc, listOf, numberOf, textOf } from '../json.js';
import type { CallContext } from '../call-context.js';
import { knownCollections, unseenFields } from '../search/diagnose.js';
import { searchItems } from '../search/search.js';
import { missing, staticCollection, staticItem } from '../static/search.js';
import type { Catalog } from '../api/catalogs.js';
import type { Client } from '../api/client.js';
import type { Landing } from '../api/landing.js';
import { below, linkTo, resolveLink } from '../api/links.js';
import { project, readFields } from '../search/fields.js';
import { collectionSummary, itemDetails, providersOf, withoutLinks } from './summaries.js';
import { catalogTool } from './tool.js';
import { getCollectionSpec, getItemSpec, getQueryablesSpec, type property } from './specs/get.js';
import {
  assetWarnings,
  needSigning,
  signedItems,
  unsignedWarning,
  withAssets,
  withOnly,
} from './assets.js';
import type * as z from 'zod';
import { unsupported } from '../search/plan.js';
import { oneLine } from '../text.js';

/** One collection. Ends the call with `not_found` if there is none of that id. */
export async function getCollection(
  client: Client,
  catalog: Catalog,
  id: string,
  scope: CallContext,
): Promise<Doc> {
  const landing = await client.landing(catalog, scope);
  if (landing.kind === 'static') return staticCollection(client, catalog, landing, id, scope);
  const url = below(collectionsUrl(landing), id);
  const found = await docOrUndefined(client.get(catalog, url, 'collection', scope));
  if (found) return found;
  const known = await knownCollections(client, catalog, landing, scope);
  return missing('collection', id, catalog, known?.byId.keys());
}

/** One item. Ends the call with `not_found` if there is none of that id. */
export async function getItem(
  client: Client,
  catalog: Catalog,
  ids: readonly [collectionId: string, itemId: string],
  scope: CallContext,
): Promise<Doc> {
  const [collectionId, itemId] = ids;
  const landing = await client.landing(catalog, scope);
  if (landing.kind === 'static') return staticItem(client, catalog, landing, ids, scope);
  if (!landing.collections && landing.search) {
    const criteria = { collections: [collectionId], ids: [itemId] };
    const { items } = await searchItems(client, catalog, criteria, { limit: 1 }, scope);
    return items.find((item) => item['id'] === itemId) ?? missing('item', itemId, catalog);
  }
  const url = below(collectionsUrl(landing), collectionId, 'items', itemId);
  const found = await docOrUndefined(client.get(catalog, url, 'item', scope));
  if (found) return found;
  const known = await knownCollections(client, catalog, landing, scope);
  return known?.complete && !known.byId.has(collectionId)
    ? missing('collection', collectionId, catalog, known.byId.keys())
    : missing('item', itemId, catalog);
}

export function collectionsUrl({ collections, url }: Landing): URL {
  return collections ?? below(url, 'collections');
}

async function docOrUndefined(loading: Promise<{ readonly doc: Doc }>): Promise<Doc | undefined> {
  try {
    const { doc } = await loading;
    // Some servers answer with an empty object or a message for what they do not have.
    return textOf(doc['id']) === undefined ? undefined : doc;
  } catch (cause) {
    const status = cause instanceof FaultError ? cause.fault.status : undefined;
    if (status === 404 || status === 410) return undefined;
    throw cause;
  }
}

export const getCollectionTool = (client: Client) =>
  catalogTool(getCollectionSpec, client, async (args, { scope }) => {
    const catalog = client.catalogs.choose(args);
    const doc = await getCollection(client, catalog, args.collection_id, scope);
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

export const getItemTool = (client: Client) =>
  catalogTool(getItemSpec, client, async (args, { scope }) => {
    const catalog = client.catalogs.choose(args);
    if (args.sign_assets) needSigning(catalog);
    const doc = await getItem(client, catalog, [args.collection_id, args.item_id], scope);
    const { assets: wanted } = args;
    const [item = doc] = args.sign_assets
      ? await signedItems(client, catalog, [doc], wanted, scope)
      : [doc];
    const isBrief = args.output_format === 'text' && args.fields === undefined;
    const fields = readFields(args.fields);
    const shown = isBrief
      ? itemDetails(item, wanted)
      : project(withOnly(item, wanted), wanted ? withAssets(fields) : fields);
    return {
      catalog: catalog.name,
      item: { ...shown, id: String(doc['id']) },
      warnings: [
        ...unseenFields([doc], fields),
        ...assetWarnings([doc], wanted ?? []),
        ...(args.sign_assets ? unsignedWarning([shown]) : []),
      ],
    };
  });

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

async function ofCatalog(client: Client, catalog: Catalog, landing: Landing, scope: CallContext) {
  const url = landing.queryables ?? below(landing.url, 'queryables');
  const schema = await schemaOrUndefined(client.get(catalog, url, 'queryables', scope));
  return schema ?? none(catalog);
}

/** At its usual place, else where the collection's own link leads. */
async function ofCollection(
  client: Client,
  catalog: Catalog,
  landing: Landing,
  id: string,
  scope: CallContext,
): Promise<Doc> {
  const usual = below(collectionsUrl(landing), id, 'queryables');
  const found = await schemaOrUndefined(client.get(catalog, usual, 'queryables', scope));
  if (found) return found;
  const collection = await getCollection(client, catalog, id, scope);
  const link = linkTo(collection, 'queryables');
  const place = link && resolveLink(link.href, below(collectionsUrl(landing), id));
  if (!place || place.href === usual.href) return none(catalog);
  const { doc } = await client.get(catalog, place, 'queryables', scope);
  return doc;
}

async function schemaOrUndefined(loading: Promise<{ readonly doc: Doc }>): Promise<Doc | undefined> {
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

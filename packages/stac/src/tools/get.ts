import { FaultError } from '@toolkeel/kernel';
import {
  arrayOf,
  isObject,
  numberOf,
  objectOf,
  oneLine,
  stringOf,
  urlUnder,
  type JsonObject,
} from '@toolkeel/pack-kit';
import type * as z from 'zod';
import type { CatalogCall } from '../api/catalog-call.js';
import type { Catalog } from '../api/catalogs.js';
import type { Client } from '../api/client.js';
import { collectionsUrl, type LandingPage } from '../api/landing.js';
import { linkTo, resolveLink } from '../api/links.js';
import { loadKnownCollections, unseenFields } from '../search/diagnose.js';
import { parseFields, project } from '../search/fields.js';
import { unsupported } from '../search/plan.js';
import { searchItems } from '../search/search.js';
import { missing, staticCollection, staticItem } from '../static/search.js';
import {
  assetWarnings,
  includeAssets,
  requireSigning,
  signItems,
  unsignedWarning,
  withSelectedAssets,
} from './assets.js';
import { getCollectionSpec, getItemSpec, getQueryablesSpec, type queryable } from './specs/get.js';
import { collectionSummary, itemDetails, providersOf, withoutLinks } from './summaries.js';
import { catalogTool } from './tool.js';

/** Reads a collection. Fails the call with `not_found` if it does not exist. */
export async function getCollection(call: CatalogCall, id: string): Promise<JsonObject> {
  const landing = await call.landing();
  if (landing.kind === 'static') return staticCollection(call, landing, id);
  const url = urlUnder(collectionsUrl(landing), id);
  const doc = await unlessMissing(call.get(url, 'collection'), [404, 410]);
  if (hasId(doc)) return doc;
  const known = await loadKnownCollections(call, landing);
  return missing('collection', id, call.catalog, known?.byId.keys());
}

/** Reads an item. Fails the call with `not_found` if it does not exist. */
export async function getItem(
  call: CatalogCall,
  ids: readonly [collectionId: string, itemId: string],
): Promise<JsonObject> {
  const [collectionId, itemId] = ids;
  const landing = await call.landing();
  if (landing.kind === 'static') return staticItem(call, landing, ids);
  if (!landing.collections && landing.search) {
    const criteria = { collections: [collectionId], ids: [itemId] };
    const { items } = await searchItems(call, criteria, { limit: 1 });
    return items.find((item) => item['id'] === itemId) ?? missing('item', itemId, call.catalog);
  }
  const url = urlUnder(collectionsUrl(landing), collectionId, 'items', itemId);
  const doc = await unlessMissing(call.get(url, 'item'), [404, 410]);
  if (hasId(doc)) return doc;
  const known = await loadKnownCollections(call, landing);
  return known?.complete && !known.byId.has(collectionId)
    ? missing('collection', collectionId, call.catalog, known.byId.keys())
    : missing('item', itemId, call.catalog);
}

/** Some servers return an object without an id, or a message, for a missing resource. */
function hasId(doc: JsonObject | undefined): doc is JsonObject {
  return stringOf(doc?.['id']) !== undefined;
}

/** The document; undefined if the response has one of these statuses. */
async function unlessMissing(
  loading: Promise<{ readonly doc: JsonObject }>,
  statuses: readonly number[],
): Promise<JsonObject | undefined> {
  try {
    const { doc } = await loading;
    return doc;
  } catch (cause) {
    const status = cause instanceof FaultError ? (cause.fault.status ?? 0) : 0;
    if (statuses.includes(status)) return undefined;
    throw cause;
  }
}

export const getCollectionTool = (client: Client) =>
  catalogTool(getCollectionSpec, client, async (args, { select }) => {
    const call = select();
    const { catalog } = call;
    const doc = await getCollection(call, args.collection_id);
    const whole = withoutLinks(doc);
    const brief = () => ({
      ...collectionSummary(doc),
      description: doc['description'] ?? null,
      providers: providersOf(doc),
    });
    const isBrief = args.output_format === 'text' && args.fields === undefined;
    const shown = isBrief ? brief() : project(whole, parseFields(args.fields));
    return { catalog: catalog.name, collection: { ...shown, id: String(doc['id']) } };
  });

export const getItemTool = (client: Client) =>
  catalogTool(getItemSpec, client, async (args, { select }) => {
    const call = select();
    const { catalog } = call;
    if (args.sign_assets) requireSigning(catalog);
    const doc = await getItem(call, [args.collection_id, args.item_id]);
    const { assets: wanted } = args;
    const [item = doc] = args.sign_assets ? await signItems(call, [doc], wanted) : [doc];
    const isBrief = args.output_format === 'text' && args.fields === undefined;
    const fields = parseFields(args.fields);
    const shown = isBrief
      ? itemDetails(item, wanted)
      : project(withSelectedAssets(item, wanted), wanted ? includeAssets(fields) : fields);
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

export const getQueryablesTool = (client: Client) =>
  catalogTool(getQueryablesSpec, client, async (args, { select }) => {
    const call = select();
    const { catalog } = call;
    const ids = [...new Set(args.collection_id ?? [])];
    const landing = await call.landing();
    if (landing.kind === 'static') noQueryables(catalog);
    const schemas =
      ids.length === 0
        ? [{ id: undefined, schema: await catalogQueryables(call, landing) }]
        : await Promise.all(
            ids.map(async (id) => ({
              id,
              schema: await collectionQueryables(call, landing, id),
            })),
          );
    return {
      catalog: catalog.name,
      collections: ids,
      properties: mergedProperties(schemas, args.output_format === 'json'),
      additional_properties: schemas.every(
        ({ schema }) => schema['additionalProperties'] !== false,
      ),
    };
  });

async function catalogQueryables(call: CatalogCall, landing: LandingPage) {
  const url = landing.queryables ?? urlUnder(landing.url, 'queryables');
  const schema = await querySchema(call.get(url, 'queryables'));
  return schema ?? noQueryables(call.catalog);
}

/** Reads the queryables at the standard path, else those that the collection links to. */
async function collectionQueryables(
  call: CatalogCall,
  landing: LandingPage,
  id: string,
): Promise<JsonObject> {
  const standard = urlUnder(collectionsUrl(landing), id, 'queryables');
  const schema = await querySchema(call.get(standard, 'queryables'));
  if (schema) return schema;
  const collection = await getCollection(call, id);
  const link = linkTo(collection, 'queryables');
  const linked = link && resolveLink(link.href, urlUnder(collectionsUrl(landing), id));
  if (!linked || linked.href === standard.href) return noQueryables(call.catalog);
  const { doc } = await call.get(linked, 'queryables');
  return doc;
}

async function querySchema(loading: Promise<{ readonly doc: JsonObject }>) {
  const schema = await unlessMissing(loading, [404, 405, 410, 501]);
  return isObject(schema?.['properties']) ? schema : undefined;
}

function noQueryables({ name }: Catalog): never {
  return unsupported(
    'queryables',
    `${name} has no queryables. Use the properties of an item instead.`,
  );
}

const MAX_VALUES = 50;

/** The properties of all schemas, each name once. */
function mergedProperties(
  schemas: readonly { readonly id: string | undefined; readonly schema: JsonObject }[],
  isWhole: boolean,
): z.output<typeof queryable>[] {
  const all = new Map<string, { readonly schema: JsonObject; readonly collections: string[] }>();
  for (const { id, schema } of schemas) {
    for (const [name, property] of Object.entries(objectOf(schema['properties']) ?? {})) {
      const entry = all.get(name) ?? { schema: objectOf(property) ?? {}, collections: [] };
      if (id !== undefined) entry.collections.push(id);
      all.set(name, entry);
    }
  }
  return [...all].map(([name, { schema, collections }]) => ({
    name,
    ...propertyDetails(schema, isWhole),
    ...(schemas.length > 1 && { collections }),
  }));
}

function propertyDetails(
  schema: JsonObject,
  isWhole: boolean,
): Omit<z.output<typeof queryable>, 'name'> {
  const { title, description, minimum, maximum, format, $ref } = schema;
  const type =
    arrayOf(schema['type']).length > 0
      ? arrayOf(schema['type']).join(' | ')
      : stringOf(schema['type']);
  const values = arrayOf(schema['enum']);
  const known = {
    type,
    title: stringOf(title),
    description: isWhole
      ? stringOf(description)
      : stringOf(description) && oneLine(String(description), 200),
    enum: values.length > 0 ? values.slice(0, isWhole ? undefined : MAX_VALUES) : undefined,
    minimum: numberOf(minimum),
    maximum: numberOf(maximum),
    format: stringOf(format),
    // Remote schemas are not fetched.
    ref: stringOf($ref),
  };
  return Object.fromEntries(
    Object.entries(known).filter(([, value]) => value !== undefined && value !== ''),
  );
}

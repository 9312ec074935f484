import { raise, toolError, type PackResource, type ToolContext } from '@toolkeel/contract';
import { asFault, callContextOf, type CallContext } from '@toolkeel/pack-kit';
import { CatalogCall } from './api/catalog-call.js';
import type { Catalog } from './api/catalogs.js';
import type { Client } from './api/client.js';
import { getCollection, getItem } from './tools/get.js';

const TEMPLATES = {
  collection: 'stac://{catalog}/collections/{collection_id}',
  item: 'stac://{catalog}/collections/{collection_id}/items/{item_id}',
} as const;

/** Collections and items of configured catalogues as MCP resources. */
export function createResources(client: Client): readonly PackResource[] {
  const common = { mimeType: 'application/json' };
  const reader =
    (load: (parts: readonly string[], context: CallContext) => Promise<unknown>, count: number) =>
    async (uri: string, toolContext: ToolContext): Promise<string> => {
      const context = callContextOf(toolContext, client.now(), client.capMs);
      try {
        return JSON.stringify(await load(partsOf(uri, count), context));
      } catch (cause) {
        throw asFault(cause);
      }
    };
  return [
    {
      ...common,
      uriTemplate: TEMPLATES.collection,
      name: 'stac_collection',
      title: 'STAC collection',
      description: 'A collection as the catalogue describes it.',
      read: reader(([catalog = '', collection = ''], context) => {
        return getCollection(
          new CatalogCall(client, catalogNamed(client, catalog), context),
          collection,
        );
      }, 2),
    },
    {
      ...common,
      uriTemplate: TEMPLATES.item,
      name: 'stac_item',
      title: 'STAC item',
      description: 'An item as the catalogue describes it, with the URLs of its assets.',
      read: reader(([catalog = '', collection = '', item = ''], context) => {
        return getItem(new CatalogCall(client, catalogNamed(client, catalog), context), [
          collection,
          item,
        ]);
      }, 3),
    },
  ];
}

/** `not_found` instead of `invalid_input`, because a resource URI is not an argument. */
function catalogNamed({ catalogs }: Client, name: string): Catalog {
  if (catalogs.names.includes(name)) return catalogs.byName(name);
  const message = `There is no catalogue "${name}". Configured: ${catalogs.names.join(', ')}.`;
  return raise(toolError('not_found', message, { details: { resource: 'catalog', id: name } }));
}

const URI_FORM = /^stac:\/\/([^/?#]+)\/collections\/([^/?#]+)(?:\/items\/([^/?#]+))?$/;

function partsOf(uri: string, count: number): readonly string[] {
  const parts =
    URI_FORM.exec(uri)
      ?.slice(1)
      .filter((part) => part !== undefined) ?? [];
  const decoded = parts.map(decodePart);
  if (decoded.length !== count || decoded.includes(undefined)) {
    const message = `"${uri.slice(0, 200)}" is not the URI of a collection or an item.`;
    return raise(toolError('invalid_input', message, { details: { field: 'uri' } }));
  }
  return decoded as readonly string[];
}

function decodePart(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

import { raise, toolError, type PackResource, type ToolContext } from '@toolkeel/contract';
import type { Catalog } from './api/catalogs.js';
import type { Client } from './api/client.js';
import { getCollection, getItem } from './tools/get.js';
import { asFault } from './tools/tool.js';
import { callContextOf, type CallContext } from './call-context.js';

const TEMPLATES = {
  collection: 'stac://{catalog}/collections/{collection_id}',
  item: 'stac://{catalog}/collections/{collection_id}/items/{item_id}',
} as const;

/** Collections and items as documents to read, by the name of a configured catalogue. */
export function createResources(client: Client): readonly PackResource[] {
  const common = { mimeType: 'application/json' };
  const reading =
    (load: (parts: readonly string[], scope: CallContext) => Promise<unknown>, count: number) =>
    async (uri: string, context: ToolContext): Promise<string> => {
      const scope = callContextOf(context, client.now(), client.capMs);
      try {
        return JSON.stringify(await load(partsOf(uri, count), scope));
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
      read: reading(([catalog = '', collection = ''], scope) => {
        return getCollection(client, catalogNamed(client, catalog), collection, scope);
      }, 2),
    },
    {
      ...common,
      uriTemplate: TEMPLATES.item,
      name: 'stac_item',
      title: 'STAC item',
      description: 'An item as the catalogue describes it, with the addresses of its assets.',
      read: reading(([catalog = '', collection = '', item = ''], scope) => {
        return getItem(client, catalogNamed(client, catalog), [collection, item], scope);
      }, 3),
    },
  ];
}

/** What is not there cannot be read, and has no arguments to be wrong about. */
function catalogNamed({ catalogs }: Client, name: string): Catalog {
  if (catalogs.names.includes(name)) return catalogs.byName(name);
  const message = `There is no catalogue "${name}". Configured: ${catalogs.names.join(', ')}.`;
  return raise(toolError('not_found', message, { details: { resource: 'catalog', id: name } }));
}

const FORM = /^stac:\/\/([^/?#]+)\/collections\/([^/?#]+)(?:\/items\/([^/?#]+))?$/;

function partsOf(uri: string, count: number): readonly string[] {
  const parts =
    FORM.exec(uri)
      ?.slice(1)
      .filter((part) => part !== undefined) ?? [];
  const decoded = parts.map(decodedPart);
  if (decoded.length !== count || decoded.includes(undefined)) {
    const message = `"${uri.slice(0, 200)}" is not an address of a collection or an item.`;
    return raise(toolError('invalid_input', message, { details: { field: 'uri' } }));
  }
  return decoded as readonly string[];
}

function decodedPart(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

import {
  badResponse,
  BoundedMap,
  headerOf,
  isObject,
  type CallContext,
  type HttpResponse,
  type JsonObject,
} from '@toolkeel/pack-kit';
import type { Catalog } from '../api/catalogs.js';
import type { Requests } from './requests.js';

/** A JSON object and its URL, which relative links are resolved against. */
export interface Document {
  readonly doc: JsonObject;
  readonly url: URL;
}

const MAX_CACHED = 64;
const MAX_CACHED_BYTES = 262_144;

/** Fetches single documents by GET, and revalidates those with an ETag. */
export type Documents = ReturnType<typeof createDocuments>;

export function createDocuments(requests: Pick<Requests, 'read'>) {
  const cache = new BoundedMap<Document & { readonly etag: string }>(MAX_CACHED);
  return {
    get: async (catalog: Catalog, url: URL, route: string, context: CallContext) => {
      const key = `${catalog.name} ${url.href}`;
      const cached = cache.get(key);
      const headers = cached && { 'if-none-match': cached.etag };
      const request = { catalog, method: 'GET', url, headers, route } as const;
      const response = await requests.read(request, context);
      if (response.status === 304 && cached) return cached;
      const document = documentOf(response);
      const etag = headerOf(response.headers, 'etag');
      if (etag === undefined || response.bytes > MAX_CACHED_BYTES) cache.delete(key);
      else cache.set(key, { ...document, etag });
      return document;
    },
  };
}

export function documentOf({ json, url }: Pick<HttpResponse, 'json' | 'url'>): Document {
  if (!isObject(json)) throw badResponse(url, 'not a JSON object');
  return { doc: json, url };
}

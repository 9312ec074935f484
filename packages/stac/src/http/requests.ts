import type { Fault } from '@toolkeel/kernel';
import {
  badResponse,
  BoundedMap,
  createHttpClient,
  faultOfResponse,
  headerOf,
  isObject,
  objectOf,
  stringOf,
  UpstreamError,
  type CallContext,
  type FailedResponse,
  type HttpClient,
  type HttpClientOptions,
  type HttpRequest,
  type HttpResponse,
  type JsonObject,
} from '@toolkeel/pack-kit';
import type { Catalog } from '../api/catalogs.js';

export interface CatalogRequest extends HttpRequest {
  /** Decides which targets are allowed and which credentials are sent. */
  readonly catalog: Catalog;
  /** Whether the caller can request a smaller page if the response is too large. */
  readonly divisible?: boolean | undefined;
}

export type Requests = HttpClient<CatalogRequest>;

export const createRequests = (
  options: Omit<HttpClientOptions<CatalogRequest>, 'name' | 'headers' | 'intercept' | 'faultOf'>,
): Requests =>
  createHttpClient<CatalogRequest>({
    ...options,
    name: 'stac',
    headers: { accept: 'application/geo+json, application/json;q=0.9, */*;q=0.1' },
    intercept: (request, _attempt, next) => {
      const { url, headers, trusted, secrets } = request.catalog;
      // The headers of a catalogue are only sent to its own origin.
      const credentials = url.origin === request.url.origin ? headers : {};
      return next({
        ...request,
        headers: { ...request.headers, ...credentials },
        trusted,
        secrets,
      });
    },
    faultOf,
  });

/** A page that the server could not return. A smaller one may succeed. */
export class PageTooLarge extends UpstreamError {}

function faultOf(response: FailedResponse, { divisible }: CatalogRequest): Fault {
  const { status, url } = response;
  const fault = faultOfResponse(response);
  if (divisible !== true || !isPageTooLarge(status, response.json)) return fault;
  const { reason } = fault.cause as UpstreamError;
  // The same page would fail again, so it is not retried: the caller requests a smaller one.
  return { kind: 'rejected', sent: 'answered', status, cause: new PageTooLarge(url.host, reason) };
}

const INSPECTED_LENGTH = 300;

/**
 * Whether an error response means that the page was too large: 413, or the stock 502 of a gateway in
 * front of a function with a response limit, which every retry would repeat.
 */
export function isPageTooLarge(status: number, json: unknown): boolean {
  if (status === 413) return true;
  const doc = objectOf(json);
  if (status !== 502 || !doc) return false;
  if (doc['message'] === 'Internal server error' && Object.keys(doc).length === 1) return true;
  const texts = [doc['code'], doc['message'], doc['description'], doc['detail']]
    .map((value) => stringOf(value)?.slice(0, INSPECTED_LENGTH))
    .join(' ');
  return /too ?large|exceed\w* .*(size|limit)/i.test(texts);
}

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

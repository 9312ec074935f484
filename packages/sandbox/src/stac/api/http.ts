import { createHash } from 'node:crypto';
import type { RouteContext } from '../../server/upstream.js';
import type { JsonObject } from '../../json.js';
import type { Traits } from '../flavours.js';
import type { Catalogue } from '../catalogue/catalogue.js';

/** An error response. Handlers throw it; the upstream converts it. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: string,
    description: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(description);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

export function badParameter(name: string, why: string): Problem {
  return new Problem(400, 'InvalidParameterValue', `${name}: ${why}`);
}

export function notFound(what: string): Problem {
  return new Problem(404, 'NotFoundError', `${what} does not exist`);
}

/** A response with an ETag, where the server has them. */
export function cacheable(
  context: RouteContext,
  traits: Traits,
  value: JsonObject,
  type = JSON_TYPE,
): Response {
  const text = JSON.stringify(value);
  if (!traits.etags) return respond(200, text, type);
  const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
  const known = context.req.header('if-none-match')?.split(/\s*,\s*/) ?? [];
  if (known.some((tag) => tag === '*' || tag.replace(/^W\//, '') === etag))
    return new Response(null, { status: 304, headers: { etag } });
  return respond(200, text, type, { etag });
}

export function respond(
  status: number,
  text: string,
  type: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  // Set explicitly, so that a response to HEAD has it too.
  const length = String(Buffer.byteLength(text));
  const own = { 'content-type': type, 'content-length': length };
  return new Response(text, { status, headers: { ...own, ...headers } });
}

export function problemResponse(cause: unknown, { errorBody }: Traits): Response {
  const { status, code, message, headers } =
    cause instanceof Problem ? cause : new Problem(500, 'InternalError', 'Something went wrong');
  const body = errorBody === 'detail' ? { detail: message } : { code, description: message };
  return respond(status, JSON.stringify(body), JSON_TYPE, headers);
}

/** The context of all handlers. */
export interface Api {
  readonly catalogue: Catalogue;
  readonly traits: Traits;
  readonly urls: ApiUrls;
}

export interface Link extends JsonObject {
  readonly rel: string;
  readonly href: string;
  readonly type?: string;
}

export const JSON_TYPE = 'application/json';
export const GEOJSON_TYPE = 'application/geo+json';
export const SCHEMA_TYPE = 'application/schema+json';
export const OPENAPI_TYPE = 'application/vnd.oai.openapi+json;version=3.0';
export const QUERYABLES_REL = 'http://www.opengis.net/def/rel/ogc/1.0/queryables';

export type ApiUrls = ReturnType<typeof createUrls>;

/** Builds the URLs in links. */
export function createUrls(traits: Traits, origin: string, assetBase: string) {
  /** The URL of the landing page, without a trailing slash. */
  const api = origin + traits.basePath;
  return {
    api,
    /** The link to a path of the API, absolute or relative. */
    href: (path: string): string =>
      traits.hrefs === 'absolute' ? api + path : traits.basePath + path || '/',
    asset: (collection: string, item: string, file: string) =>
      `${assetBase}/${collection}/${item}/${file}`,
  };
}

/** The same API under another host name, which clients must treat as another origin. */
export function withForeignOrigin(urls: ApiUrls): ApiUrls {
  const api = urls.api.replace('//127.0.0.1:', '//localhost:');
  return { ...urls, api, href: (path) => api + path };
}

export function link(rel: string, href: string, type = JSON_TYPE, more: JsonObject = {}): Link {
  return { rel, href, type, ...more };
}

/** The collection in the path, if the route has one. */
export function namedCollection({ catalogue }: Api, context: RouteContext): string | undefined {
  const collection = context.req.param('collection');
  if (collection !== undefined && !catalogue.product(collection))
    throw notFound(`Collection ${collection}`);
  return collection;
}

import { createHash } from 'node:crypto';
import type { RouteContext } from '../../server/upstream.js';
import { isObject, type JsonObject } from '../../json.js';
import type { Traits } from '../flavours.js';
import { askFromQuery } from '../search/query.js';
import type { Catalogue } from '../catalogue/catalogue.js';

/** An answer that is not what was asked for: thrown while a request is worked out, caught once at its edge. */
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

/** An answer that is the same until the server is started anew: clients may keep it. */
export function lasting(
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
  // Told here, so that an answer to HEAD tells it too.
  const length = String(Buffer.byteLength(text));
  const told = { 'content-type': type, 'content-length': length, ...headers };
  return new Response(text, { status, headers: told });
}

export function problemResponse(cause: unknown, { errorBody }: Traits): Response {
  const { status, code, message, headers } =
    cause instanceof Problem ? cause : new Problem(500, 'InternalError', 'Something went wrong');
  const body = errorBody === 'detail' ? { detail: message } : { code, description: message };
  return respond(status, JSON.stringify(body), JSON_TYPE, headers);
}

interface Given {
  /** The parameters, in the form that POST uses. */
  readonly ask: Readonly<Record<string, unknown>>;
  readonly query: URLSearchParams;
  readonly body?: JsonObject;
}

/** The parameters of a GET or POST. Some routes know more than all of them do. */
export async function readAsk(
  { req }: RouteContext,
  traits: Traits,
  ownParameters: readonly string[] = [],
): Promise<Given> {
  const query = new URL(req.url).searchParams;
  if (req.method === 'POST') {
    const body = parseBody(await req.text(), req.header('content-type'));
    return { ask: body, body, query };
  }
  const { ask, unknown } = askFromQuery(query);
  const stranger = unknown.find((name) => !ownParameters.includes(name));
  if (stranger !== undefined && traits.unknownParameters === 'refuse')
    throw badParameter(stranger, 'is not a parameter');
  return { ask, query };
}

function parseBody(text: string, type = ''): JsonObject {
  if (!/^application\/(?:[\w.+-]+\+)?json\b/.test(type))
    throw new Problem(415, 'UnsupportedMediaType', 'The body must be application/json');
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw badParameter('body', 'is not JSON');
  }
  if (!isObject(body)) throw badParameter('body', 'is not an object');
  return body as JsonObject;
}

/** What every handler works with. */
export interface Api {
  readonly catalogue: Catalogue;
  readonly traits: Traits;
  readonly places: Places;
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

/** Where things are. */
export interface Places {
  /** The API's own address, without a slash at its end. */
  readonly api: string;
  /** How links write the address of a path of the API. */
  readonly href: (path: string) => string;
  readonly asset: (collection: string, item: string, file: string) => string;
}

export function placesOf(traits: Traits, origin: string, assetBase: string): Places {
  const api = origin + traits.basePath;
  return {
    api,
    href: (path) => (traits.hrefs === 'absolute' ? api + path : traits.basePath + path || '/'),
    asset: (collection, item, file) => `${assetBase}/${collection}/${item}/${file}`,
  };
}

/** The same places under another name: another origin, as far as a client can tell. */
export function abroad(places: Places): Places {
  const api = places.api.replace('//127.0.0.1:', '//localhost:');
  return { ...places, api, href: (path) => api + path };
}

export function link(rel: string, href: string, type = JSON_TYPE, more: JsonObject = {}): Link {
  return { rel, href, type, ...more };
}

import { FaultError, faultFromResponse, type Fault } from '@toolkeel/kernel';
import type { Catalog } from '../api/catalogs.js';
import type { Agents } from './gateway.js';
import { parseJson } from './parse-json.js';
import {
  ACCEPT_ENCODING,
  errorReason,
  isPageTooLarge,
  readBody,
  UpstreamError,
} from './response.js';
import { checkPublic, parseTarget, type IsAllowed } from './ssrf.js';
import { headerOf, type HttpRequest, type HttpResponse, type Method } from './types.js';

export interface ExchangeOptions {
  readonly agents: Agents;
  readonly isAllowed: IsAllowed;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

interface Hop {
  readonly method: Method;
  readonly url: URL;
  readonly body: string | undefined;
  /** False after a redirect to another origin: from then on no credentials are sent. */
  readonly sameOrigin: boolean;
}

const MAX_REDIRECTS = 5;
const ERROR_BODY_BYTES = 65_536;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const USER_AGENT = 'toolkeel-stac/0.1';

/** Performs one attempt: the request, its redirects and its body. Throws unless the status is 2xx or 304. */
export async function exchange(
  request: HttpRequest,
  options: ExchangeOptions,
): Promise<HttpResponse> {
  const { method, url, body } = request;
  let hop: Hop = { method, url, body, sameOrigin: true };
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await sendHop(request, hop, options);
    if (!('location' in response)) return response;
    hop = followRedirect(hop, response.status, response.location);
    // The final URL is shown to callers and is the base of links.
    if (request.catalog.secrets.contains(hop.url.href)) {
      throw badResponse(url, 'a redirect that repeats a credential');
    }
  }
  throw badResponse(url, 'too many redirects');
}

type Redirect = { readonly status: number; readonly location: string };

async function sendHop(
  request: HttpRequest,
  hop: Hop,
  { agents, isAllowed, maxBytes, signal }: ExchangeOptions,
): Promise<HttpResponse | Redirect> {
  const { catalog } = request;
  const { url, method } = hop;
  const isTrusted = catalog.trusted.has(url.origin);
  if (!isTrusted) checkPublic(url, isAllowed);
  const response = await agents.request(url, {
    dispatcher: isTrusted ? agents.trusted : agents.open,
    method,
    headers: headersFor(request, hop),
    body: hop.body ?? null,
    signal,
  });
  const { statusCode: status, headers, body } = response;
  const location = headerOf(headers, 'location');
  if (REDIRECTS.has(status) && location !== undefined) {
    await body.dump();
    return { status, location };
  }
  if ((status >= 200 && status < 300) || status === 304) {
    if (method === 'HEAD' || status === 304) {
      await body.dump();
      return { status, headers, json: undefined, bytes: 0, url };
    }
    const read = await readBody(body, headers, maxBytes);
    return {
      status,
      headers,
      json: parseBody(read, headers, url, catalog),
      bytes: read.length,
      url,
    };
  }
  const errorBody = await readBody(body, headers, ERROR_BODY_BYTES).catch(() => Buffer.alloc(0));
  throw errorFrom(request, url, { status, headers, body: errorBody.toString() });
}

/** Part of the attempt, so that a host that returns error pages with status 200 counts as failing. */
function parseBody(
  body: Buffer,
  headers: HttpResponse['headers'],
  url: URL,
  catalog: Catalog,
): unknown {
  const text = body.toString();
  try {
    return parseJson(text, catalog.secrets);
  } catch {
    const isHtml = /^\s*</.test(text);
    throw badResponse(url, (isHtml && errorReason(headers, text, catalog.secrets)) || 'not JSON');
  }
}

function headersFor({ headers, catalog }: HttpRequest, hop: Hop) {
  const { url, body } = hop;
  return {
    accept: 'application/geo+json, application/json;q=0.9, */*;q=0.1',
    'accept-encoding': ACCEPT_ENCODING,
    'user-agent': USER_AGENT,
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(hop.sameOrigin && { ...headers, ...credentialsFor(catalog, url) }),
  };
}

/** The headers of a catalogue are only sent to its own origin. */
function credentialsFor(catalog: Catalog, url: URL): Readonly<Record<string, string>> {
  return catalog.url.origin === url.origin ? catalog.headers : {};
}

/**
 * 303 changes the method to GET. Other redirects keep method and body, because a search without its
 * body would be a different search.
 */
function followRedirect(hop: Hop, status: number, location: string): Hop {
  const url = parseTarget(location, hop.url);
  const sameOrigin = hop.sameOrigin && url.origin === hop.url.origin;
  if (status === 303 && hop.method === 'POST') {
    return { method: 'GET', url, body: undefined, sameOrigin };
  }
  return { ...hop, url, sameOrigin };
}

function errorFrom(
  { divisible, catalog }: HttpRequest,
  url: URL,
  response: { status: number; headers: HttpResponse['headers']; body: string },
): FaultError {
  const { status, headers, body } = response;
  const tooLarge = isPageTooLarge(status, body);
  const cause = new UpstreamError(url.host, {
    status,
    reason: errorReason(headers, body, catalog.secrets),
    tooLarge,
  });
  // The same page would fail again, so it is not retried: the caller requests a smaller one.
  if (tooLarge && divisible) {
    return new FaultError({ kind: 'rejected', sent: 'answered', status, cause });
  }
  const fault: Fault = faultFromResponse({ status, headers, body });
  return new FaultError({ ...fault, cause });
}

export function badResponse(url: URL, reason: string): FaultError {
  const cause = new UpstreamError(url.host, { reason });
  return new FaultError({ kind: 'bad_response', sent: 'answered', cause });
}

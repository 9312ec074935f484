import { FaultError, faultFromResponse, type Fault } from '@toolkeel/kernel';
import type { Catalog } from '../api/catalogs.js';
import { checkPublic, parseTarget, type IsAllowed } from './ssrf.js';
import type { Agents } from './gateway.js';
import { ACCEPT_ENCODING, readBody, reasonIn, saysTooLarge, UpstreamProblem } from './response.js';
import { parseJson } from './parse-json.js';
import { headerOf, type HttpAnswer, type HttpRequest, type Method } from './types.js';

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
  /** False once a redirect has led to another origin: from there on no credential goes along. */
  readonly sameOrigin: boolean;
}

const MAX_REDIRECTS = 5;
const ERROR_BODY_BYTES = 65_536;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const USER_AGENT = 'toolkeel-stac/0.1';

/** One attempt: the request, its redirects, its whole body. Throws for anything but 2xx and 304. */
export async function exchange(
  request: HttpRequest,
  options: ExchangeOptions,
): Promise<HttpAnswer> {
  const { method, url, body } = request;
  let hop: Hop = { method, url, body, sameOrigin: true };
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const answer = await perform(request, hop, options);
    if (!('location' in answer)) return answer;
    hop = redirected(hop, answer.status, answer.location);
    // What an answer says it comes from is shown, and is where its links begin.
    if (request.catalog.secrets.contains(hop.url.href)) {
      throw badAnswer(url, 'a redirect that repeats a credential');
    }
  }
  throw badAnswer(url, 'too many redirects');
}

type Redirect = { readonly status: number; readonly location: string };

async function perform(
  request: HttpRequest,
  hop: Hop,
  { agents, isAllowed, maxBytes, signal }: ExchangeOptions,
): Promise<HttpAnswer | Redirect> {
  const { catalog } = request;
  const { url, method } = hop;
  const isTrusted = catalog.trusted.has(url.origin);
  if (!isTrusted) checkPublic(url, isAllowed);
  const answer = await agents.request(url, {
    dispatcher: isTrusted ? agents.trusted : agents.open,
    method,
    headers: headersFor(request, hop),
    body: hop.body ?? null,
    signal,
  });
  const { statusCode: status, headers, body } = answer;
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
      json: jsonIn(read, headers, url, catalog),
      bytes: read.length,
      url,
    };
  }
  const said = await readBody(body, headers, ERROR_BODY_BYTES).catch(() => Buffer.alloc(0));
  throw refusal(request, url, { status, headers, body: said.toString() });
}

/** Inside the attempt, so that a host which answers with error pages counts as failing. */
function jsonIn(body: Buffer, headers: HttpAnswer['headers'], url: URL, catalog: Catalog): unknown {
  const text = body.toString();
  try {
    return parseJson(text, catalog.secrets);
  } catch {
    const isHtml = /^\s*</.test(text);
    throw badAnswer(url, (isHtml && reasonIn(headers, text, catalog.secrets)) || 'not JSON');
  }
}

function headersFor({ headers, catalog }: HttpRequest, hop: Hop) {
  const { url, body } = hop;
  const own = hop.sameOrigin ? headers : undefined;
  return {
    accept: 'application/geo+json, application/json;q=0.9, */*;q=0.1',
    'accept-encoding': ACCEPT_ENCODING,
    'user-agent': USER_AGENT,
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...own,
    ...(hop.sameOrigin && credentialsFor(catalog, url)),
  };
}

/** A catalogue's own headers go to its own origin and to no other. */
function credentialsFor(catalog: Catalog, url: URL): Readonly<Record<string, string>> {
  return catalog.url.origin === url.origin ? catalog.headers : {};
}

/**
 * 303 asks for a GET. The others keep the method: a search that was moved is still a search, and a
 * GET without its body would be another one.
 */
function redirected(hop: Hop, status: number, location: string): Hop {
  const url = parseTarget(location, hop.url);
  const sameOrigin = hop.sameOrigin && url.origin === hop.url.origin;
  if (status === 303 && hop.method === 'POST') {
    return { method: 'GET', url, body: undefined, sameOrigin };
  }
  return { ...hop, url, sameOrigin };
}

function refusal(
  { divisible, catalog }: HttpRequest,
  url: URL,
  answer: { status: number; headers: HttpAnswer['headers']; body: string },
): FaultError {
  const { status, headers, body } = answer;
  const tooLarge = saysTooLarge(status, body);
  const cause = new UpstreamProblem(url.host, {
    status,
    reason: reasonIn(headers, body, catalog.secrets),
    tooLarge,
  });
  // The same page would fail again: the caller asks for a smaller one, which is another request.
  if (tooLarge && divisible) {
    return new FaultError({ kind: 'rejected', sent: 'answered', status, cause });
  }
  const fault: Fault = faultFromResponse({ status, headers, body });
  return new FaultError({ ...fault, cause });
}

export function badAnswer(url: URL, reason: string): FaultError {
  const cause = new UpstreamProblem(url.host, { reason });
  return new FaultError({ kind: 'bad_response', sent: 'answered', cause });
}

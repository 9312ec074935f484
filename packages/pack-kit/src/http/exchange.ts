import {
  assertSendToken,
  withSendToken,
  type SendToken,
  type ToolOperation,
} from '@toolkeel/contract';
import {
  FaultError,
  faultFromResponse,
  parseServerHints,
  type Fault,
  type RateLimitInfo,
} from '@toolkeel/kernel';
import type { Dispatcher } from 'undici';
import type * as z from 'zod';
import { badResponse, errorReason, UpstreamError } from '../faults.js';
import type { Redactor } from '../redact/redactor.js';
import { ACCEPT_ENCODING, headerOf, readBody, type HttpHeaders } from './body.js';
import type { Connections, Reach } from './connections.js';
import { parseJson } from './parse-json.js';
import { checkPublic, parseTarget } from './ssrf.js';

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface HttpRequest {
  readonly method: Method;
  readonly url: URL;
  /** May contain credentials: not sent to another origin after a redirect. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Sent as JSON unless `headers` has another content type. */
  readonly body?: string | Buffer | undefined;
  /** Requests of one route share rate limits and latency statistics. */
  readonly route?: string | undefined;
  /** Replaces the trusted origins of the client: all other origins must be public. */
  readonly trusted?: ReadonlySet<string> | undefined;
  /** Replaces the redactor of the client. */
  readonly secrets?: Redactor | undefined;
  /** `text`: a success is not JSON, such as a diff or a log. Errors are read as usual. */
  readonly expects?: 'json' | 'text' | undefined;
  /** Replaces the byte budget of the client. */
  readonly maxBytes?: number | undefined;
}

/** A response with status 2xx or 304. Secrets are redacted. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: HttpHeaders;
  /** The parsed body; undefined for HEAD, 304 and an empty body. */
  readonly json: unknown;
  /** The body of a request that expects text. */
  readonly text?: string;
  readonly bytes: number;
  /** The final URL after redirects, which relative links are resolved against. */
  readonly url: URL;
  readonly limits: readonly RateLimitInfo[];
}

/** The body of a response in the shape of a schema. Throws a `bad_response` fault that names the mismatch. */
export function parseResponse<S extends z.ZodType>(response: HttpResponse, schema: S): z.output<S> {
  const { data, error } = schema.safeParse(response.json);
  if (error === undefined) return data;
  const [issue] = error.issues;
  throw badResponse(response.url, `not as expected at /${issue?.path.join('/')}`);
}

/** A response with any other status. Secrets are redacted. */
export interface FailedResponse extends Pick<HttpResponse, 'status' | 'headers' | 'url'> {
  readonly text: string;
  /** Undefined if the body is not JSON. */
  readonly json: unknown;
}

export interface ExchangeOptions<R extends HttpRequest = never> {
  readonly connections: Connections;
  readonly secrets: Redactor;
  readonly signal: AbortSignal;
  /** The largest response. */
  readonly maxBytes: number;
  readonly wallNow: () => number;
  /** Origins that the operator configured; requests to all others must go to public addresses. */
  readonly trusted: ReadonlySet<string>;
  /** Sent with every request and to every origin, so without credentials. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** How many redirects a read follows. Default: 5. */
  readonly maxRedirects?: number | undefined;
  /** The fault of an error response. Default: `faultOfResponse`. */
  readonly faultOf?: ((response: FailedResponse, request: R, wallNow: number) => Fault) | undefined;
}

const ERROR_BODY_BYTES = 65_536;
/** POST is one where searches have a body. */
const READS: ReadonlySet<Method> = new Set(['GET', 'HEAD', 'POST']);
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Performs one attempt of a read with its redirects, on pooled connections. */
export async function read(request: HttpRequest, options: ExchangeOptions): Promise<HttpResponse> {
  const { connections, signal, secrets, maxRedirects = 5 } = options;
  if (!READS.has(request.method)) throw new TypeError(`${request.method} is a write, not a read.`);
  let hop = request;
  for (let redirects = 0; ; redirects++) {
    const { method, url, body = null } = hop;
    const sent = { method, headers: headersFor(hop, options), body, signal };
    const response = await connections.read(url, sent, reachOf(hop, options));
    const location = headerOf(response.headers, 'location');
    if (!REDIRECTS.has(response.statusCode) || location === undefined) {
      return interpret(response, hop, options);
    }
    await response.body.dump();
    if (redirects >= maxRedirects) throw badResponse(request.url, 'too many redirects');
    hop = followRedirect(hop, response.statusCode, location);
    // The final URL is shown to callers and is the base of links.
    if ((request.secrets ?? secrets).contains(hop.url.href)) {
      throw badResponse(request.url, 'a redirect that repeats a credential');
    }
  }
}

/**
 * 303 changes the method to GET. Other redirects keep method and body, because a search without its
 * body would be a different search.
 */
function followRedirect(hop: HttpRequest, status: number, location: string): HttpRequest {
  const url = parseTarget(location, hop.url);
  const headers = url.origin === hop.url.origin ? hop.headers : undefined;
  const isGet = status === 303 && hop.method === 'POST';
  return { ...hop, url, headers, ...(isGet && { method: 'GET', body: undefined }) };
}

/** Runs a write with a `SendToken`, like `operation.send`. */
export type Send = ToolOperation['send'];

/**
 * Performs one attempt of a write on a new connection, without redirects. The connection is open before
 * the write is recorded, so that a failed connect proves that nothing was sent.
 */
export async function write(
  request: HttpRequest,
  options: ExchangeOptions,
  send: Send,
  redaction?: 'keep secrets',
): Promise<HttpResponse> {
  const { url, method, body = null } = request;
  const { connections, signal } = options;
  const connection = await connections.open(url, signal, reachOf(request, options));
  const submit = async (token: SendToken): Promise<HttpResponse> => {
    assertSendToken(token);
    // The attempt may have been abandoned while the journal recorded the write.
    if (signal.aborted) {
      throw new FaultError({ kind: 'cancelled', sent: 'no', cause: signal.reason });
    }
    const sent = { method, headers: headersFor(request, options), body, signal };
    const path = `${url.pathname}${url.search}`;
    return interpret(await connection.request({ ...sent, path }), request, options, redaction);
  };
  try {
    return await send(submit, { signal });
  } finally {
    connection.destroy();
  }
}

/** Requests a token, which is no operation. Its response contains new secrets and is not redacted. */
export function authenticate(
  request: HttpRequest,
  options: ExchangeOptions,
): Promise<HttpResponse> {
  return write(request, options, (submit) => withSendToken(0, submit), 'keep secrets');
}

function reachOf({ url, trusted }: HttpRequest, options: ExchangeOptions): Reach {
  if ((trusted ?? options.trusted).has(url.origin)) return 'configured';
  checkPublic(url, options.connections.isAllowed);
  return 'public';
}

function headersFor(request: HttpRequest, options: ExchangeOptions) {
  return {
    accept: 'application/json',
    'accept-encoding': ACCEPT_ENCODING,
    ...options.headers,
    ...(request.body !== undefined && { 'content-type': 'application/json' }),
    ...request.headers,
  };
}

async function interpret(
  { statusCode: status, headers, body }: Dispatcher.ResponseData,
  request: HttpRequest,
  options: ExchangeOptions,
  redaction?: 'keep secrets',
): Promise<HttpResponse> {
  // Destroying the body emits an error, which would end the process without a listener.
  body.on('error', () => undefined);
  const { url, method } = request;
  const { faultOf = faultOfResponse } = options;
  const wallNow = options.wallNow();
  const redactor = request.secrets ?? options.secrets;
  const isSuccess = (status >= 200 && status < 300) || status === 304;
  // A response to HEAD and 304 have the headers of a body, and none.
  const described = method === 'HEAD' || status === 304 ? {} : headers;
  const budget = isSuccess ? (request.maxBytes ?? options.maxBytes) : ERROR_BODY_BYTES;
  const content = await readBody(body, described, budget).catch((cause: unknown) => {
    body.destroy();
    if (isSuccess) throw cause;
    return Buffer.alloc(0);
  });
  const text = content.toString();
  const { limits } = parseServerHints({ status, headers }, wallNow);
  const common = { status, headers, bytes: content.length, url, limits };
  if (isSuccess && request.expects === 'text') {
    return { ...common, json: undefined, text: redactor.redact(text) };
  }
  const json = jsonIn(text, redaction && isSuccess ? undefined : redactor);
  if (!isSuccess) {
    const failed = { status, headers, url, text: redactor.redact(text), json };
    throw new FaultError(faultOf(failed, request as never, wallNow));
  }
  if (json === undefined && text.trim() !== '') {
    const page = /^\s*</.test(text) ? errorReason(headers, redactor.redact(text), json) : undefined;
    throw badResponse(url, page ?? 'not JSON');
  }
  return { ...common, json };
}

/** Undefined if the text is not JSON. */
function jsonIn(text: string, secrets: Redactor | undefined): unknown {
  try {
    return parseJson(text, secrets);
  } catch {
    return undefined;
  }
}

/** The fault of an error response, with the upstream's explanation as its cause. */
export function faultOfResponse(
  { status, headers, url, text, json }: FailedResponse,
  _request?: unknown,
  wallNow?: number,
): Fault {
  const cause = new UpstreamError(url.host, errorReason(headers, text, json));
  return { ...faultFromResponse({ status, headers, body: text }, wallNow), cause };
}

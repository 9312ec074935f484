import { assertSendToken, type SendToken } from '@toolkeel/contract';
import { FaultError, parseServerHints } from '@toolkeel/kernel';
import type { Redactor } from '@toolkeel/pack-kit';
import type { Dispatcher } from 'undici';
import { faultOfResponse, unreadableResponse } from '../api/upstream-problem.js';
import { isObject, type JsonObject } from '../json.js';
import type { Connections, FreshConnection } from './connections.js';
import {
  ACCEPT_ENCODING,
  headerOf,
  type HttpResponse,
  type HttpHeaders,
  type HttpRequest,
  parseJson,
  readBody,
} from './message.js';

export interface ExchangeOptions {
  readonly connections: Connections;
  /** The value of the `Authorization` header. */
  readonly authorization: string | undefined;
  /** Redacts secrets that X or an intermediary echoes. */
  readonly secrets: Redactor;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly wallNow: () => number;
}

const USER_AGENT = 'toolkeel-x/0.1';
const ERROR_BODY_BYTES = 65_536;

/** Sends one read attempt. Throws a `FaultError` or an error of undici. */
export async function read(request: HttpRequest, options: ExchangeOptions): Promise<HttpResponse> {
  const { method, url } = request;
  const headers = headersFor(request, options);
  const { signal } = options;
  const response = await options.connections.read(url, { method, headers, signal });
  return interpret(response, options);
}

/** Runs a write with a `SendToken`, like `operation.send`. */
export type Send = <T>(write: (token: SendToken) => Promise<T>) => Promise<T>;

/**
 * Sends one write attempt on a new connection. The connection is open before `send` records the write, so a
 * refused connection proves that nothing was sent.
 */
export function write(
  request: HttpRequest,
  options: ExchangeOptions,
  send: Send,
): Promise<HttpResponse> {
  return onFreshConnection(request, options, (connection) =>
    send(async (token) => {
      assertSendToken(token);
      return interpret(await requestOn(connection, request, options), options);
    }),
  );
}

/**
 * Sends a token request. It belongs to no operation, so it needs no `SendToken`. Its response contains new
 * secrets and is not redacted.
 */
export function authenticate(
  request: HttpRequest,
  options: ExchangeOptions,
): Promise<HttpResponse> {
  return onFreshConnection(request, options, async (connection) =>
    interpret(await requestOn(connection, request, options), options, 'keep'),
  );
}

async function onFreshConnection<T>(
  { url }: HttpRequest,
  { connections, signal }: ExchangeOptions,
  use: (connection: FreshConnection) => Promise<T>,
): Promise<T> {
  const connection = await connections.open(url, signal);
  try {
    return await use(connection);
  } finally {
    connection.destroy();
  }
}

function requestOn(connection: FreshConnection, request: HttpRequest, options: ExchangeOptions) {
  const { method, url, body = null } = request;
  const { signal } = options;
  // The attempt may have been abandoned while the journal recorded the write.
  if (signal.aborted) throw new FaultError({ kind: 'cancelled', sent: 'no', cause: signal.reason });
  const headers = headersFor(request, options);
  const path = `${url.pathname}${url.search}`;
  return connection.request({ method, path, headers, body, signal });
}

function headersFor({ body, contentType }: HttpRequest, { authorization }: ExchangeOptions) {
  return {
    accept: 'application/json',
    'accept-encoding': ACCEPT_ENCODING,
    'user-agent': USER_AGENT,
    ...(authorization !== undefined && { authorization }),
    ...(body !== undefined && { 'content-type': contentType ?? 'application/json' }),
  };
}

async function interpret(
  { statusCode: status, headers, body }: Dispatcher.ResponseData,
  options: ExchangeOptions,
  secrets: 'redact' | 'keep' = 'redact',
): Promise<HttpResponse> {
  // Destroying the body emits an error, which would end the process without a listener.
  body.on('error', () => undefined);
  const isSuccess = status >= 200 && status < 300;
  // A redirect could send the credential to another host; X sends none.
  if (!isSuccess && status < 400) {
    body.destroy();
    throw unreadableResponse();
  }
  const budget = isSuccess ? options.maxBytes : ERROR_BODY_BYTES;
  const wallNow = options.wallNow();
  if (!isSuccess) {
    const text = await bodyText(body, headers, budget).catch(() => '');
    throw faultOfResponse(
      { status, headers, body: withoutSecrets(text, options.secrets) },
      wallNow,
    );
  }
  const text = await bodyText(body, headers, budget);
  const json = text.trim() === '' ? '{}' : text;
  const doc = secrets === 'keep' ? jsonIn(json) : withoutSecrets(json, options.secrets);
  if (!isObject(doc)) throw unreadableResponse();
  const { limits } = parseServerHints({ status, headers }, wallNow);
  return {
    status,
    doc: doc satisfies JsonObject,
    limits,
    clockAheadMs: clockAhead(headers, wallNow),
  };
}

async function bodyText(
  body: Dispatcher.ResponseData['body'],
  headers: HttpHeaders,
  budget: number,
): Promise<string> {
  try {
    return (await readBody(body, headers, budget)).toString();
  } catch (cause) {
    body.destroy();
    throw cause;
  }
}

/** Searching the whole text is much cheaper than searching each string in it. */
function withoutSecrets(text: string, secrets: Redactor): unknown {
  const json = jsonIn(text);
  return secrets.contains(text) ? secrets.redactJson(json) : json;
}

/** Undefined if the text is not JSON. */
function jsonIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function clockAhead(headers: HttpHeaders, wallNow: number): number | undefined {
  const date = Date.parse(headerOf(headers, 'date') ?? '');
  return Number.isNaN(date) ? undefined : date - wallNow;
}

import { assertSendToken, type SendToken } from '@toolkeel/contract';
import { FaultError, parseServerHints } from '@toolkeel/kernel';
import type { Dispatcher } from 'undici';
import { isDoc, type Doc } from '../json.js';
import { faultOfAnswer, unreadable } from '../problems/upstream-problem.js';
import type { Redactor } from '@toolkeel/pack-kit';
import { ACCEPT_ENCODING, readBody } from './body.js';
import type { Connections, FreshConnection } from './connections.js';
import { parseJson } from './parse-json.js';
import { headerOf, type HttpAnswer, type HttpHeaders, type HttpRequest } from './request.js';

export interface ExchangeOptions {
  readonly connections: Connections;
  /** As the `Authorization` header says it. */
  readonly authorization: string | undefined;
  /** What must not be repeated, should X or somebody in between send it back to us. */
  readonly secrets: Redactor;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly wallNow: () => number;
}

const USER_AGENT = 'toolkeel-x/0.1';
const ERROR_BODY_BYTES = 65_536;

/** One attempt to read. Throws a `FaultError`, or what undici throws. */
export async function read(request: HttpRequest, options: ExchangeOptions): Promise<HttpAnswer> {
  const { method, url } = request;
  const headers = headersFor(request, options);
  const { signal } = options;
  const answer = await options.connections.read(url, { method, headers, signal });
  return interpret(answer, options);
}

/** Runs a write and gives it the right to send; `operation.send` fits. */
export type Send = <T>(write: (token: SendToken) => Promise<T>) => Promise<T>;

/**
 * One attempt to write, on a connection of its own. The connection is open before `send` records the
 * write, so that a refused connection is known to have sent nothing.
 */
export function write(
  request: HttpRequest,
  options: ExchangeOptions,
  send: Send,
): Promise<HttpAnswer> {
  return onFreshConnection(request, options, (connection) =>
    send(async (token) => {
      assertSendToken(token);
      return interpret(await requestOn(connection, request, options), options);
    }),
  );
}

/**
 * Asks for tokens. It acts for no operation, so it needs no `SendToken`. The answer is where secrets
 * come from, and is read as it is.
 */
export function authenticate(request: HttpRequest, options: ExchangeOptions): Promise<HttpAnswer> {
  return onFreshConnection(request, options, async (connection) =>
    interpret(await requestOn(connection, request, options), options, 'as it is'),
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
  // Recording the write may have taken so long that this attempt was given up and another one made.
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
  secrets: 'removed' | 'as it is' = 'removed',
): Promise<HttpAnswer> {
  // Ending it early is an error of the stream, and one that nobody hears would end the process.
  body.on('error', () => undefined);
  const isSuccess = status >= 200 && status < 300;
  // A redirect would lead our credential elsewhere, and X has none.
  if (!isSuccess && status < 400) {
    body.destroy();
    throw unreadable();
  }
  const budget = isSuccess ? options.maxBytes : ERROR_BODY_BYTES;
  const wallNow = options.wallNow();
  if (!isSuccess) {
    const said = await bodyText(body, headers, budget).catch(() => '');
    const failure = withoutSecrets(said, options.secrets);
    throw faultOfAnswer({ status, headers, body: failure }, wallNow);
  }
  const text = await bodyText(body, headers, budget);
  const json = text.trim() === '' ? '{}' : text;
  const doc = secrets === 'as it is' ? jsonIn(json) : withoutSecrets(json, options.secrets);
  if (!isDoc(doc)) throw unreadable();
  const { limits } = parseServerHints({ status, headers }, wallNow);
  return { status, doc: doc satisfies Doc, limits, clockAheadMs: clockAhead(headers, wallNow) };
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

/** One look at the whole text is much cheaper than one at each of its strings. */
function withoutSecrets(text: string, secrets: Redactor): unknown {
  const json = jsonIn(text);
  return secrets.contains(text) ? secrets.redactJson(json) : json;
}

/** Undefined for a text that is not JSON. */
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

import { parseServerHints } from '@toolkeel/kernel';
import type { Dispatcher } from 'undici';
import { isDoc, type Doc } from '../json.js';
import { faultOfAnswer, unreadable } from '../problems/upstream-problem.js';
import { clean } from '../redact/clean.js';
import type { KnownSecrets } from '../redact/known-secrets.js';
import { ACCEPT_ENCODING, readBody } from './body.js';
import type { Connections } from './connections.js';
import { parseJson } from './parse-json.js';
import { headerOf, type HttpAnswer, type HttpHeaders, type HttpRequest } from './request.js';

export interface ExchangeOptions {
  readonly connections: Connections;
  /** As the `Authorization` header says it. */
  readonly authorization: string | undefined;
  /** What must not be repeated, should X or somebody in between send it back to us. */
  readonly secrets: KnownSecrets;
  /** The answer is where secrets come from, and is read as it is. */
  readonly bringsSecrets?: true;
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

/** One attempt to write, on a connection of its own. `onSend` comes directly before the first byte. */
export async function write(
  request: HttpRequest,
  options: ExchangeOptions & { readonly onSend: () => Promise<void> },
): Promise<HttpAnswer> {
  const { method, url, body = null } = request;
  const { signal } = options;
  const connection = await options.connections.open(url, signal);
  try {
    await options.onSend();
    // It may have taken so long that the attempt was given up, and another one made in its place.
    signal.throwIfAborted();
    const headers = headersFor(request, options);
    const path = `${url.pathname}${url.search}`;
    const answer = await connection.request({ method, path, headers, body, signal });
    return await interpret(answer, options);
  } finally {
    connection.destroy();
  }
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
    const failure = clean(jsonOr(said, undefined), options.secrets);
    throw faultOfAnswer({ status, headers, body: failure }, wallNow);
  }
  const text = await bodyText(body, headers, budget);
  const parsed: unknown = text.trim() === '' ? {} : jsonOr(text, undefined);
  const doc = options.bringsSecrets ? parsed : clean(parsed, options.secrets);
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

function jsonOr(text: string, otherwise: undefined): unknown {
  try {
    return parseJson(text);
  } catch {
    return otherwise;
  }
}

function clockAhead(headers: HttpHeaders, wallNow: number): number | undefined {
  const date = Date.parse(headerOf(headers, 'date') ?? '');
  return Number.isNaN(date) ? undefined : date - wallNow;
}

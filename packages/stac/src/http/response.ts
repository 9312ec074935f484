import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { Redactor } from '@toolkeel/pack-kit';
import { objectOf, stringOf } from '../json.js';
import { oneLine } from '../strings.js';
import { parseJson } from './parse-json.js';
import { headerOf, type HttpHeaders } from './types.js';

/** An error response of an upstream, or one that cannot be used. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
  readonly host: string;
  readonly status: number | undefined;
  /** The upstream's explanation, clipped to one line. */
  readonly reason: string | undefined;
  /** Whether a smaller page may succeed. */
  readonly tooLarge: boolean;

  constructor(
    host: string,
    about: {
      readonly status?: number | undefined;
      readonly reason?: string | undefined;
      readonly tooLarge?: boolean;
    },
  ) {
    super(`invalid response from ${host}`);
    this.host = host;
    this.status = about.status;
    this.reason = about.reason;
    this.tooLarge = about.tooLarge ?? false;
  }
}

/** The response exceeds the byte budget. */
export class ResponseTooLargeError extends Error {
  override readonly name = 'ResponseTooLargeError';
  readonly bytes: number;
  readonly budget: number;

  constructor(bytes: number, budget: number) {
    super(`response exceeds ${budget} bytes`);
    this.bytes = bytes;
    this.budget = budget;
  }
}

const REASON_LENGTH = 300;
const MAX_REASONS = 20;

/** Only the beginning of an error page is searched for a reason. */
const INSPECTED_LENGTH = 8_192;

/**
 * The reason in an error response, in any of the formats that servers use. Credentials are redacted
 * before clipping, so that no part of one remains.
 */
export function errorReason(
  headers: HttpHeaders,
  body: string,
  secrets?: Redactor,
): string | undefined {
  const type = headerOf(headers, 'content-type') ?? '';
  const text = (secrets?.redact(body) ?? body).slice(0, INSPECTED_LENGTH);
  if (/html/i.test(type) || /^\s*<(!doctype|html)/i.test(text)) return reasonInHtml(text);
  const doc = objectOf(parsed(body, secrets));
  if (!doc) return text.trim() === '' ? undefined : oneLine(text, REASON_LENGTH);
  return REASON_MEMBERS.map((name) => sentence(doc[name])).find((reason) => reason !== undefined);
}

/** The most specific first: `message` and `title` often only name the status. */
const REASON_MEMBERS = ['description', 'detail', 'errors', 'message', 'title', 'error'];

function sentence(value: unknown): string | undefined {
  if (typeof value === 'string' && value.trim() !== '') return oneLine(value, REASON_LENGTH);
  if (Array.isArray(value)) {
    const parts = value
      .slice(0, MAX_REASONS)
      .flatMap((entry) => stringOf(entry) ?? messageIn(entry) ?? []);
    return sentence(parts.filter((part) => part.trim() !== '').join('; '));
  }
  const inner = messageIn(value);
  return inner === undefined ? undefined : sentence(inner);
}

function messageIn(value: unknown): string | undefined {
  const doc = objectOf(value) ?? {};
  return ['msg', 'message', 'description', 'detail']
    .map((name) => stringOf(doc[name]))
    .find((text) => text !== undefined);
}

/** Only the title of an HTML page is reported. */
function reasonInHtml(body: string): string {
  const title = /<title[^>]*>([^<]*)/i.exec(body)?.[1] ?? '';
  return title.trim() === '' ? 'an HTML page' : `an HTML page: ${oneLine(title, 100)}`;
}

/**
 * Whether an error response means that the page was too large: 413, or the stock 502 of a gateway in
 * front of a function with a response limit, which every retry would repeat.
 */
export function isPageTooLarge(status: number, body: string): boolean {
  if (status === 413) return true;
  if (status !== 502) return false;
  const doc = objectOf(parsed(body));
  if (!doc) return false;
  if (doc['message'] === 'Internal server error' && Object.keys(doc).length === 1) return true;
  const texts = [doc['code'], doc['message'], doc['description'], doc['detail']]
    .map((value) => stringOf(value)?.slice(0, REASON_LENGTH))
    .join(' ');
  return /too ?large|exceed\w* .*(size|limit)/i.test(texts);
}

function parsed(body: string, secrets?: Redactor): unknown {
  try {
    return parseJson(body, secrets);
  } catch {
    return undefined;
  }
}

const decoders = new Map([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
]);

export const ACCEPT_ENCODING = 'gzip, deflate, br';

/** Reads and decodes a body. Neither its wire size nor its decoded size may exceed `budget` bytes. */
export async function readBody(
  stream: AsyncIterable<Uint8Array>,
  headers: HttpHeaders,
  budget: number,
): Promise<Buffer> {
  const contentLength = Number(headerOf(headers, 'content-length') ?? 0);
  if (contentLength > budget) throw new ResponseTooLargeError(contentLength, budget);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    // Leaving the loop destroys the stream and its connection.
    if (bytes > budget) throw new ResponseTooLargeError(bytes, budget);
    chunks.push(chunk);
  }
  return decodeBody(Buffer.concat(chunks), headers, budget);
}

async function decodeBody(encoded: Buffer, headers: HttpHeaders, budget: number): Promise<Buffer> {
  const encoding = headerOf(headers, 'content-encoding')?.trim().toLowerCase() ?? 'identity';
  const decode = decoders.get(encoding);
  if (!decode || encoded.length === 0) return encoded;
  try {
    return await decode(encoded, { maxOutputLength: budget });
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (code === 'ERR_BUFFER_TOO_LARGE') throw new ResponseTooLargeError(budget + 1, budget);
    throw cause;
  }
}

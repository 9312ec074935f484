import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { RateLimitInfo } from '@toolkeel/kernel';
import type { JsonObject } from '../json.js';

export type Method = 'GET' | 'POST' | 'DELETE';

export type HttpHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** A request without its credential. */
export interface HttpRequest {
  readonly method: Method;
  readonly url: URL;
  readonly contentType?: string | undefined;
  readonly body?: string | Buffer | undefined;
}

/** A successful response. */
export interface HttpResponse {
  readonly status: number;
  /** The parsed body; empty if X sent none. */
  readonly doc: JsonObject;
  readonly limits: readonly RateLimitInfo[];
  /** How far X's clock is ahead of the local one, in milliseconds; undefined without a `Date` header. */
  readonly clockAheadMs: number | undefined;
}

export function headerOf(headers: HttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Appends path segments to a URL that may have a path of its own. */
export function urlUnder(base: URL | string, segments: readonly string[]): URL {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${segments.map(encodeURIComponent).join('/')}`;
  return url;
}

/** The response exceeds the byte budget. */
export class OversizedResponse extends Error {
  override readonly name = 'OversizedAnswer';
  readonly bytes: number;
  readonly budget: number;

  constructor(bytes: number, budget: number) {
    super(`response of more than ${budget} bytes`);
    this.bytes = bytes;
    this.budget = budget;
  }
}

const decoders = new Map([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
]);

export const ACCEPT_ENCODING = 'gzip, deflate, br';

/** Reads the body. The budget applies to both the compressed and the decompressed size. */
export async function readBody(
  stream: AsyncIterable<Uint8Array>,
  headers: HttpHeaders,
  budget: number,
): Promise<Buffer> {
  const declared = Number(headerOf(headers, 'content-length') ?? 0);
  if (declared > budget) throw new OversizedResponse(declared, budget);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    // Leaving the loop destroys the stream and its connection.
    if (bytes > budget) throw new OversizedResponse(bytes, budget);
    chunks.push(chunk);
  }
  return decompress(Buffer.concat(chunks), headers, budget);
}

async function decompress(
  compressed: Buffer,
  headers: HttpHeaders,
  budget: number,
): Promise<Buffer> {
  const encoding = headerOf(headers, 'content-encoding')?.trim().toLowerCase() ?? 'identity';
  const decode = decoders.get(encoding);
  if (!decode || compressed.length === 0) return compressed;
  try {
    return await decode(compressed, { maxOutputLength: budget });
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (code === 'ERR_BUFFER_TOO_LARGE') throw new OversizedResponse(budget + 1, budget);
    throw new SyntaxError('response that cannot be decompressed', { cause });
  }
}

/** Values that `JSON.parse` accepts and `JSON.stringify` cannot reproduce: infinite numbers, lone surrogates. */
const SUSPECT = /[eE]\+?\d{3}|\d{300}|\\u[dD][89a-fA-F]/;
const SURROGATE = /\p{Surrogate}/gu;

/** Parses JSON into a value that can be serialized again. Throws a SyntaxError otherwise. */
export function parseJson(text: string): unknown {
  const plain = text.startsWith('\uFEFF') ? text.slice(1) : text;
  // A reviver makes parsing many times slower, so only suspect input gets one.
  return JSON.parse(plain, SUSPECT.test(plain) ? reviveSafely : undefined);
}

function reviveSafely(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(SURROGATE, '\uFFFD');
  if (typeof value !== 'number' || Number.isFinite(value)) return value;
  throw new SyntaxError('number out of range');
}

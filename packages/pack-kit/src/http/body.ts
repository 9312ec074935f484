import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';

export type HttpHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The first value of a header; `name` in lower case. */
export function headerOf(headers: HttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
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
  const encoded = Buffer.concat(chunks);
  const encoding = headerOf(headers, 'content-encoding')?.trim().toLowerCase() ?? 'identity';
  const decode = decoders.get(encoding);
  if (!decode || bytes === 0) return encoded;
  try {
    return await decode(encoded, { maxOutputLength: budget });
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (code === 'ERR_BUFFER_TOO_LARGE') throw new ResponseTooLargeError(budget + 1, budget);
    throw cause;
  }
}

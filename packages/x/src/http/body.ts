import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { headerOf, type HttpHeaders } from './request.js';

/** The answer has more bytes than we are willing to hold. */
export class OversizedAnswer extends Error {
  override readonly name = 'OversizedAnswer';
  readonly bytes: number;
  readonly budget: number;

  constructor(bytes: number, budget: number) {
    super(`an answer of more than ${budget} bytes`);
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

/** The whole body, never more than `budget` bytes of it: neither on the wire nor unpacked. */
export async function readBody(
  stream: AsyncIterable<Uint8Array>,
  headers: HttpHeaders,
  budget: number,
): Promise<Buffer> {
  const announced = Number(headerOf(headers, 'content-length') ?? 0);
  if (announced > budget) throw new OversizedAnswer(announced, budget);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    // Leaving the loop destroys the stream, and with it the connection.
    if (bytes > budget) throw new OversizedAnswer(bytes, budget);
    chunks.push(chunk);
  }
  return unpack(Buffer.concat(chunks), headers, budget);
}

async function unpack(packed: Buffer, headers: HttpHeaders, budget: number): Promise<Buffer> {
  const encoding = headerOf(headers, 'content-encoding')?.trim().toLowerCase() ?? 'identity';
  const decode = decoders.get(encoding);
  if (!decode || packed.length === 0) return packed;
  try {
    return await decode(packed, { maxOutputLength: budget });
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (code === 'ERR_BUFFER_TOO_LARGE') throw new OversizedAnswer(budget + 1, budget);
    throw new SyntaxError('an answer that cannot be unpacked', { cause });
  }
}

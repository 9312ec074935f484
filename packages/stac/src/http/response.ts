import type { Redactor } from '@toolkeel/pack-kit';
import { docOf, textOf } from '../json.js';
import { oneLine } from '../text.js';
import { parseJson } from './parse-json.js';
import { headerOf, type HttpHeaders } from './types.js';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';

/** An answer that is not what was asked for: its status and what the upstream said about it. */
export class UpstreamProblem extends Error {
  override readonly name = 'UpstreamProblem';
  readonly host: string;
  readonly status: number | undefined;
  /** In the upstream's words, clipped to one line. */
  readonly reason: string | undefined;
  /** A smaller page may go through. */
  readonly tooLarge: boolean;

  constructor(
    host: string,
    about: {
      readonly status?: number | undefined;
      readonly reason?: string | undefined;
      readonly tooLarge?: boolean;
    },
  ) {
    super(`problem with an answer of ${host}`);
    this.host = host;
    this.status = about.status;
    this.reason = about.reason;
    this.tooLarge = about.tooLarge ?? false;
  }
}

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

const REASON_LENGTH = 300;
const MAX_REASONS = 20;

/** What is worth repeating stands at the beginning. */
const LOOKED_AT = 8_192;

/**
 * What an error page says, whatever its shape: there is no standard that servers keep to. Our own
 * credentials are taken out before anything is clipped, so that no half of one is left.
 */
export function reasonIn(
  headers: HttpHeaders,
  body: string,
  secrets?: Redactor,
): string | undefined {
  const type = headerOf(headers, 'content-type') ?? '';
  const text = (secrets?.redact(body) ?? body).slice(0, LOOKED_AT);
  if (/html/i.test(type) || /^\s*<(!doctype|html)/i.test(text)) return reasonInHtml(text);
  const doc = docOf(parsed(body, secrets));
  if (!doc) return text.trim() === '' ? undefined : oneLine(text, REASON_LENGTH);
  return REASON_MEMBERS.map((name) => sentence(doc[name])).find((one) => one !== undefined);
}

/** The most specific first: `message` and `title` are often only the name of the status. */
const REASON_MEMBERS = ['description', 'detail', 'errors', 'message', 'title', 'error'];

function sentence(value: unknown): string | undefined {
  if (typeof value === 'string' && value.trim() !== '') return oneLine(value, REASON_LENGTH);
  if (Array.isArray(value)) {
    const parts = value.slice(0, MAX_REASONS).flatMap((one) => textOf(one) ?? messageIn(one) ?? []);
    return sentence(parts.filter((part) => part.trim() !== '').join('; '));
  }
  const inner = messageIn(value);
  return inner === undefined ? undefined : sentence(inner);
}

function messageIn(value: unknown): string | undefined {
  const doc = docOf(value) ?? {};
  return ['msg', 'message', 'description', 'detail']
    .map((name) => textOf(doc[name]))
    .find((text) => text !== undefined);
}

/** An HTML page in place of JSON: its title is all that is worth repeating. */
function reasonInHtml(body: string): string {
  const title = /<title[^>]*>([^<]*)/i.exec(body)?.[1] ?? '';
  return title.trim() === '' ? 'an HTML page' : `an HTML page: ${oneLine(title, 100)}`;
}

/**
 * Whether an error means that the page was too big to be sent. 413 says so. A gateway in front of a
 * function with an answer limit says 502 with its stock sentence, and says it again for every retry.
 */
export function saysTooLarge(status: number, body: string): boolean {
  if (status === 413) return true;
  if (status !== 502) return false;
  const doc = docOf(parsed(body));
  if (!doc) return false;
  if (doc['message'] === 'Internal server error' && Object.keys(doc).length === 1) return true;
  const said = [doc['code'], doc['message'], doc['description'], doc['detail']]
    .map((one) => textOf(one)?.slice(0, REASON_LENGTH))
    .join(' ');
  return /too ?large|exceed\w* .*(size|limit)/i.test(said);
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
    throw cause;
  }
}

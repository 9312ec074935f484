import type { ReadableStream } from 'node:stream/web';

/** An answer that is ready to be delivered, well or badly. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** All of the body, or the beginning of a long one. */
  readonly body: Buffer;
  /** The rest of a long one. */
  readonly rest?: AsyncIterable<Uint8Array>;
  /** How long the body is; unknown where the upstream does not tell. */
  readonly length: number | undefined;
}

const LONG = 1024 * 1024;

export async function answerFrom(response: Response): Promise<Answer> {
  const { status } = response;
  const {
    'content-length': told,
    'transfer-encoding': chunked,
    ...headers
  } = Object.fromEntries(response.headers);
  if (told !== undefined && Number(told) > LONG && response.body) {
    const stream = response.body as ReadableStream<Uint8Array>;
    return { status, headers, body: Buffer.alloc(0), rest: stream, length: Number(told) };
  }
  const body = Buffer.from(await response.arrayBuffer());
  const length = chunked === undefined ? Number(told ?? body.length) : undefined;
  return { status, headers, body, length };
}

export function page(status: number, type: string, text: string): Answer {
  const body = Buffer.from(text);
  return { status, headers: { 'content-type': type }, body, length: body.length };
}

export const HTML_PAGE = [
  '<!DOCTYPE html>',
  '<html><head><title>Service unavailable</title></head>',
  "<body><h1>Our services aren't available right now</h1>",
  "<p>We're working to restore all services as soon as possible. Please check back soon.</p>",
  '</body></html>',
].join('\n');

import type { ServerResponse } from 'node:http';
import type { ReadableStream } from 'node:stream/web';

/** A response that is ready to be sent, intact or broken by a fault. */
export interface PreparedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The whole body, or the first chunk of a streamed one. */
  readonly body: Buffer;
  /** The remaining chunks of a streamed body. */
  readonly rest?: AsyncIterable<Uint8Array>;
  /** The value of Content-Length; undefined where the upstream does not send one. */
  readonly length: number | undefined;
}

const STREAMED_FROM = 256 * 1024;

/** Buffers documents, so that faults can break them anywhere, and streams large files. */
export async function prepare(response: Response, isWhole = false): Promise<PreparedResponse> {
  const { status, body: stream } = response;
  const {
    'content-length': declared,
    'transfer-encoding': chunked,
    ...headers
  } = Object.fromEntries(response.headers);
  const isFile = headers['content-type']?.includes('json') === false;
  if (isFile && stream && Number(declared ?? 0) > STREAMED_FROM) {
    const rest = (stream as ReadableStream<Uint8Array>).values();
    const { value } = await rest.next();
    return { status, headers, body: Buffer.from(value ?? []), rest, length: Number(declared) };
  }
  // Events that the upstream sends one by one: the header also tells real proxies not to buffer.
  if (stream && !isWhole && headers['x-accel-buffering'] === 'no') {
    const rest = (stream as ReadableStream<Uint8Array>).values();
    return { status, headers, body: Buffer.alloc(0), rest, length: undefined };
  }
  const body = Buffer.from(await response.arrayBuffer());
  const bodiless = status === 204 || status === 304;
  const length = bodiless || chunked !== undefined ? undefined : Number(declared ?? body.length);
  return { status, headers, body, length };
}

export function textResponse(status: number, type: string, text: string): PreparedResponse {
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

export async function send(outgoing: ServerResponse, response: PreparedResponse): Promise<void> {
  writeHead(outgoing, response);
  if (response.body.length > 0) outgoing.write(response.body);
  else outgoing.flushHeaders();
  for await (const chunk of response.rest ?? []) {
    if (outgoing.destroyed) break;
    if (!outgoing.write(chunk)) await drained(outgoing);
  }
  outgoing.end();
}

/** Waits until the socket accepts more data, or is closed. */
function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off('drain', done).off('close', done);
      resolve();
    };
    outgoing.on('drain', done).on('close', done);
  });
}

export function writeHead(
  outgoing: ServerResponse,
  { status, headers, length }: PreparedResponse,
  declared = length,
): void {
  outgoing.writeHead(status, {
    ...headers,
    ...(declared !== undefined && { 'content-length': String(declared) }),
  });
}

/** Waits, and returns false as soon as the client disconnects. */
export function pause(ms: number, outgoing: ServerResponse): Promise<boolean> {
  if (outgoing.destroyed || outgoing.socket?.destroyed) return Promise.resolve(false);
  if (ms < 0.5) return Promise.resolve(true);
  return new Promise((resolve) => {
    const onClose = (): void => {
      clearTimeout(timer);
      resolve(false);
    };
    const timer = setTimeout(() => {
      outgoing.off('close', onClose);
      resolve(true);
    }, Math.round(ms));
    outgoing.once('close', onClose);
  });
}

export function closed(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    if (outgoing.closed) resolve();
    else outgoing.once('close', resolve);
  });
}

import type { ReadableStream } from 'node:stream/web';
import type { ServerResponse } from 'node:http';

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

const LONG = 256 * 1024;

/** Documents are held as a whole, so that faults can take them apart; long files are not. */
export async function answerFrom(response: Response): Promise<Answer> {
  const { status, body: stream } = response;
  const {
    'content-length': told,
    'transfer-encoding': chunked,
    ...headers
  } = Object.fromEntries(response.headers);
  const isFile = headers['content-type']?.includes('json') === false;
  if (isFile && stream && Number(told ?? 0) > LONG) {
    const { first, rest } = await beginOf(stream as ReadableStream<Uint8Array>);
    return { status, headers, body: first, rest, length: Number(told) };
  }
  const body = Buffer.from(await response.arrayBuffer());
  const bodiless = status === 204 || status === 304;
  const length = bodiless || chunked !== undefined ? undefined : Number(told ?? body.length);
  return { status, headers, body, length };
}

async function beginOf(
  stream: ReadableStream<Uint8Array>,
): Promise<{ first: Buffer; rest: AsyncIterable<Uint8Array> }> {
  const chunks = stream.values();
  const { value } = await chunks.next();
  return { first: Buffer.from(value ?? []), rest: chunks };
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

/** As it should be. */
export async function deliver(outgoing: ServerResponse, answer: Answer): Promise<void> {
  writeHead(outgoing, answer);
  outgoing.write(answer.body);
  for await (const chunk of answer.rest ?? []) {
    if (outgoing.destroyed) break;
    if (!outgoing.write(chunk)) await drained(outgoing);
  }
  outgoing.end();
}

/** Until there is room for more, or nobody left to read it. */
function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off('drain', done).off('close', done);
      resolve();
    };
    outgoing.on('drain', done).on('close', done);
  });
}

/** The head of an answer, with its length or with another one. */
export function writeHead(
  outgoing: ServerResponse,
  { status, headers, length }: Answer,
  told = length,
): void {
  outgoing.writeHead(status, {
    ...headers,
    ...(told !== undefined && { 'content-length': String(told) }),
  });
}

/** Waits, but not for a client that has left: then the answer is false, at once. */
export function pause(ms: number, outgoing: ServerResponse): Promise<boolean> {
  if (outgoing.destroyed || outgoing.socket?.destroyed) return Promise.resolve(false);
  if (ms < 0.5) return Promise.resolve(true);
  return new Promise((resolve) => {
    const left = (): void => {
      clearTimeout(timer);
      resolve(false);
    };
    const timer = setTimeout(() => {
      outgoing.off('close', left);
      resolve(true);
    }, Math.round(ms));
    outgoing.once('close', left);
  });
}

/** Until the exchange is over, one way or the other. */
export function closed(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    if (outgoing.closed) resolve();
    else outgoing.once('close', resolve);
  });
}

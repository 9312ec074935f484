import type { ServerResponse } from 'node:http';
import type { Fault } from '../faults/injector.js';
import { statusOf, type FaultKind } from '../faults/kinds.js';
import type { RetryAfter } from '../faults/rules.js';
import {
  closed,
  HTML_PAGE,
  pause,
  send,
  textResponse,
  writeHead,
  type PreparedResponse,
} from './response.js';
import type { Upstream } from './upstream.js';

type Sender = (outgoing: ServerResponse, response: PreparedResponse) => Promise<void>;

const broken = new WeakSet<ServerResponse>();

/** Whether a fault ended the exchange, rather than the client. */
export function wasBroken(outgoing: ServerResponse): boolean {
  return broken.has(outgoing);
}

/** Sends RST. */
export function reset(outgoing: ServerResponse): void {
  broken.add(outgoing);
  outgoing.socket?.resetAndDestroy();
}

/** Sends FIN before the response is complete. */
async function close(outgoing: ServerResponse): Promise<void> {
  broken.add(outgoing);
  outgoing.socket?.end();
  await closed(outgoing);
}

/** The time for written bytes to reach the client: a reset discards those still in the buffer. */
const FLUSH_MS = 10;

async function written(outgoing: ServerResponse, bytes: Buffer): Promise<void> {
  await new Promise<void>((resolve) => {
    outgoing.once('close', resolve);
    outgoing.write(bytes, () => {
      outgoing.off('close', resolve);
      resolve();
    });
  });
}

function stall({ stallMs }: Fault): Sender {
  return async (outgoing) => {
    if (stallMs === undefined) return closed(outgoing);
    if (await pause(stallMs, outgoing)) reset(outgoing);
    return undefined;
  };
}

/** Bytes that are neither JSON nor UTF-8. */
const GARBAGE = Buffer.from('fffe007b5b22c3287d00e28228f09f', 'hex');

/** Keeps the status and the headers, and replaces the body. */
const withBody =
  (body: Buffer): Sender =>
  (outgoing, { status, headers }) =>
    send(outgoing, { status, headers, body, length: body.length });

/**
 * Breaks the body of a response. One without a body is reset before its head: the head alone would complete
 * it, and the fault would hit the next request on the connection.
 */
const withBrokenBody =
  (sendBroken: Sender): Sender =>
  async (outgoing, response) => {
    const isEmpty = response.body.length === 0 || outgoing.req.method === 'HEAD';
    if (isEmpty) reset(outgoing);
    else await sendBroken(outgoing, response);
  };

const senders: Readonly<Partial<Record<FaultKind, (fault: Fault) => Sender>>> = {
  'reset-before-read': () => async (outgoing) => reset(outgoing),
  'reset-after-read': () => async (outgoing) => reset(outgoing),
  'close-before-read': () => close,
  'close-after-read': () => close,

  'half-body': () =>
    withBrokenBody(async (outgoing, response) => {
      writeHead(outgoing, response);
      await written(outgoing, response.body.subarray(0, Math.ceil(response.body.length / 2)));
      await pause(FLUSH_MS, outgoing);
      reset(outgoing);
    }),

  stall,
  'acted-stall': stall,

  drip:
    ({ dripMs = 10_000 }) =>
    async (outgoing, response) => {
      const pieces = 20;
      const size = Math.max(1, Math.ceil(response.body.length / pieces));
      writeHead(outgoing, response);
      for (let from = 0; from < response.body.length; from += size) {
        if (from > 0 && !(await pause(dripMs / pieces, outgoing))) return;
        outgoing.write(response.body.subarray(from, from + size));
      }
      outgoing.end();
    },

  'malformed-json': () => (outgoing, response) => {
    const body = response.body.subarray(0, Math.floor(response.body.length * 0.6));
    return send(outgoing, { ...response, body, length: body.length });
  },

  garbage: () => withBody(GARBAGE),
  'empty-json': () => withBody(Buffer.from('{}')),

  'length-too-long': () => withWrongLength((actual) => actual + 1000),
  // The client takes half of the body, and finds the rest in front of the next response.
  'length-too-short': () => withWrongLength((actual) => Math.floor(actual / 2)),
};

function withWrongLength(declare: (actual: number) => number): Sender {
  return withBrokenBody(async (outgoing, response) => {
    writeHead(outgoing, response, declare(response.body.length));
    await written(outgoing, response.body);
    await close(outgoing);
  });
}

export function faultySender(fault: Fault): Sender | undefined {
  return senders[fault.kind]?.(fault);
}

/** The response that a fault substitutes. After `acted-`, the upstream's own headers (rate limits) are kept. */
export function substitute(
  fault: Fault,
  upstream: Upstream,
  real: PreparedResponse,
): PreparedResponse | undefined {
  const { kind, retryAfter, location = '' } = fault;
  if (kind === 'html-200') return textResponse(200, 'text/html', HTML_PAGE);
  if (kind === 'html-502') return textResponse(502, 'text/html', HTML_PAGE);
  if (kind === 'redirect') return withHeaders(textResponse(307, 'text/plain', ''), { location });
  const status = statusOf(kind);
  if (status === undefined) return undefined;
  const { type, text, headers } = upstream.outageBody(status);
  const plain = textResponse(status, type, text);
  const kept = kind.startsWith('acted-') ? real.headers : {};
  const response = { ...plain, headers: { ...kept, ...plain.headers, ...headers } };
  if (!retryAfter) return response;
  return withHeaders(response, { 'retry-after': retryAfterHeader(retryAfter, Date.now()) });
}

function withHeaders(
  response: PreparedResponse,
  headers: Readonly<Record<string, string>>,
): PreparedResponse {
  return { ...response, headers: { ...response.headers, ...headers } };
}

function retryAfterHeader(retryAfter: RetryAfter, now: number): string {
  if ('seconds' in retryAfter) return String(retryAfter.seconds);
  if ('raw' in retryAfter) return retryAfter.raw;
  // HTTP dates have whole seconds: rounded up, so that no client returns too early.
  return new Date(Math.ceil(now / 1000 + retryAfter.dateInSeconds) * 1000).toUTCString();
}

const unhandled: ReadonlySet<FaultKind> = new Set(['stall', 'html-200', 'html-502', 'redirect']);

/** Whether the upstream does not handle the request at all. */
export function preventsHandling(fault: Fault): boolean {
  return skipsBody(fault) || unhandled.has(fault.kind) || fault.kind.startsWith('http-');
}

/** Whether the exchange ends without reading the request's body. */
export function skipsBody({ kind }: Fault): boolean {
  return kind === 'reset-before-read' || kind === 'close-before-read';
}

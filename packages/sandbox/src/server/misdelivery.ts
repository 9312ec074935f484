import type { ServerResponse } from 'node:http';
import type { Fault } from '../faults/injector.js';
import { statusOf, type FaultKind } from '../faults/kinds.js';
import { type Answer, closed, deliver, HTML_PAGE, page, pause, writeHead } from './response.js';
import type { Upstream } from './upstream.js';
import type { RetryAfter } from '../faults/rules.js';

/** What a fault makes of an answer: another answer, or a delivery that goes wrong. */
type Misdelivery = (outgoing: ServerResponse, answer: Answer) => Promise<void>;

const broken = new WeakSet<ServerResponse>();

/** Was the exchange ended by us, on purpose? Otherwise its client left. */
export function wasBroken(outgoing: ServerResponse): boolean {
  return broken.has(outgoing);
}

/** TCP's RST: the other side learns at once that nothing more will come. */
export function reset(outgoing: ServerResponse): void {
  broken.add(outgoing);
  outgoing.socket?.resetAndDestroy();
}

/** TCP's FIN, in the middle of things. */
async function hangUp(outgoing: ServerResponse): Promise<void> {
  broken.add(outgoing);
  outgoing.socket?.end();
  await closed(outgoing);
}

/** Time for what was written to reach the client: a reset throws away what has not left yet. */
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

function stall({ stallMs }: Fault): Misdelivery {
  return async (outgoing) => {
    if (stallMs === undefined) return closed(outgoing);
    if (await pause(stallMs, outgoing)) reset(outgoing);
    return undefined;
  };
}

/** Bytes that are neither JSON nor UTF-8. */
const GARBAGE = Buffer.from('fffe007b5b22c3287d00e28228f09f', 'hex');

/** The status and the headers that it should have had, with another body. */
const withBody =
  (body: Buffer): Misdelivery =>
  (outgoing, { status, headers }) =>
    deliver(outgoing, { status, headers, body, length: body.length });

/**
 * Breaks the body of an answer. One without a body is complete with its head, and what breaks then is
 * whatever its client sends next on the connection: it is reset before its head instead.
 */
const withBrokenBody =
  (deliverBroken: Misdelivery): Misdelivery =>
  async (outgoing, answer) => {
    const isEmpty = answer.body.length === 0 || outgoing.req.method === 'HEAD';
    if (isEmpty) reset(outgoing);
    else await deliverBroken(outgoing, answer);
  };

const breaking: Readonly<Partial<Record<FaultKind, (fault: Fault) => Misdelivery>>> = {
  'reset-before-read': () => async (outgoing) => reset(outgoing),
  'reset-after-read': () => async (outgoing) => reset(outgoing),
  'close-before-read': () => hangUp,
  'close-after-read': () => hangUp,

  'half-body': () =>
    withBrokenBody(async (outgoing, answer) => {
      writeHead(outgoing, answer);
      await written(outgoing, answer.body.subarray(0, Math.ceil(answer.body.length / 2)));
      await pause(FLUSH_MS, outgoing);
      reset(outgoing);
    }),

  stall,
  'acted-stall': stall,

  drip:
    ({ dripMs = 10_000 }) =>
    async (outgoing, answer) => {
      const pieces = 20;
      const size = Math.max(1, Math.ceil(answer.body.length / pieces));
      writeHead(outgoing, answer);
      for (let from = 0; from < answer.body.length; from += size) {
        if (from > 0 && !(await pause(dripMs / pieces, outgoing))) return;
        outgoing.write(answer.body.subarray(from, from + size));
      }
      outgoing.end();
    },

  'malformed-json': () => (outgoing, answer) => {
    const body = answer.body.subarray(0, Math.floor(answer.body.length * 0.6));
    return deliver(outgoing, { ...answer, body, length: body.length });
  },

  garbage: () => withBody(GARBAGE),
  'empty-json': () => withBody(Buffer.from('{}')),

  // More is promised than comes, and the connection ends politely.
  'length-too-long': () =>
    withBrokenBody(async (outgoing, answer) => {
      writeHead(outgoing, answer, answer.body.length + 1000);
      await written(outgoing, answer.body);
      await hangUp(outgoing);
    }),

  // Less is promised than comes: a client reads half, and the rest lies in the way of the next answer.
  'length-too-short': () =>
    withBrokenBody(async (outgoing, answer) => {
      writeHead(outgoing, answer, Math.floor(answer.body.length / 2));
      await written(outgoing, answer.body);
      await hangUp(outgoing);
    }),
};

/** Faults that give an answer of their own. What acted before it fails still tells its limits and the like. */
export function substitute(fault: Fault, upstream: Upstream, real: Answer): Answer | undefined {
  const { kind, retryAfter, location = '' } = fault;
  if (kind === 'html-200') return page(200, 'text/html', HTML_PAGE);
  if (kind === 'html-502') return page(502, 'text/html', HTML_PAGE);
  if (kind === 'redirect') return withHeader(page(307, 'text/plain', ''), 'location', location);
  const status = statusOf(kind);
  if (status === undefined) return undefined;
  const { type, text, headers } = upstream.outage(status);
  const plain = page(status, type, text);
  const known = kind.startsWith('acted-') ? real.headers : {};
  const answer = { ...plain, headers: { ...known, ...plain.headers, ...headers } };
  if (!retryAfter) return answer;
  return withHeader(answer, 'retry-after', retryAfterValue(retryAfter, Date.now()));
}

function withHeader(answer: Answer, name: string, value: string): Answer {
  return { ...answer, headers: { ...answer.headers, [name]: value } };
}

export function misdeliveryOf(fault: Fault): Misdelivery | undefined {
  return breaking[fault.kind]?.(fault);
}

/** Does the fault leave the upstream untouched, as if the request had not reached it? */
export function comesFirst(fault: Fault): boolean {
  return isUnread(fault) || untouched.has(fault.kind) || fault.kind.startsWith('http-');
}

const untouched: ReadonlySet<FaultKind> = new Set(['stall', 'html-200', 'html-502', 'redirect']);

/** Does it end the exchange without reading the body? */
export function isUnread({ kind }: Fault): boolean {
  return kind === 'reset-before-read' || kind === 'close-before-read';
}

/** The header's value; a date is one of HTTP. */
function retryAfterValue(retryAfter: RetryAfter, now: number): string {
  if ('seconds' in retryAfter) return String(retryAfter.seconds);
  if ('raw' in retryAfter) return retryAfter.raw;
  // Dates have whole seconds: rounded up, so that nobody comes back too early.
  return new Date(Math.ceil(now / 1000 + retryAfter.dateInSeconds) * 1000).toUTCString();
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Chaos, Fault, Plan } from '../faults/injector.js';
import { isContentFault } from '../faults/kinds.js';
import { type Answer, answerFrom, deliver, page, pause } from './response.js';
import type { LogEntry, RequestLog } from './log.js';
import {
  comesFirst,
  isUnread,
  misdeliveryOf,
  reset,
  substitute,
  wasBroken,
} from './misdelivery.js';
import type { Upstream } from './upstream.js';
import { createHash } from 'node:crypto';

export interface Parts {
  readonly upstream: Upstream;
  readonly chaos: Chaos;
  readonly log: RequestLog;
}

interface Caller {
  readonly host: string;
  readonly origin: string;
  readonly connection: number;
}

const NOTHING = Buffer.alloc(0);
const EMPTY = page(200, 'text/plain', '');

/** One request, from its arrival to its end: logged, drawn for, delayed, answered or not. */
export async function exchange(
  { upstream, chaos, log }: Parts,
  { host, origin, connection }: Caller,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const arrived = performance.now();
  const head = headOf(incoming, origin);
  const { method, url } = head;
  const route = upstream.routeOf(method, url.pathname);

  // By arrival, the luck of a request is known before it is read: then a reset can really come first.
  const early =
    chaos.drawBy === 'arrival' ? chaos.plan({ route, method, fingerprint: '' }) : undefined;
  const note = log.begin({
    at: Date.now(),
    host,
    connection,
    route,
    method,
    path: url.pathname,
    fingerprint: fingerprintOf(head, NOTHING),
    headers: Object.keys(incoming.headers),
    ...entered(early),
    bytesIn: 0,
    bytesOut: 0,
  });
  const sentBefore = incoming.socket.bytesWritten;
  outgoing.once('close', () =>
    note({
      status: outgoing.headersSent ? outgoing.statusCode : null,
      outcome: outcomeOf(outgoing),
      tookMs: performance.now() - arrived,
      bytesOut: incoming.socket.bytesWritten - sentBefore,
    }),
  );

  const unread = early?.fault !== undefined && isUnread(early.fault);
  const read = unread ? { bytes: NOTHING } : await readBody(incoming);
  if ('failed' in read) {
    if (read.failed === 'too-large') reset(outgoing);
    return;
  }
  const { bytes } = read;
  const fingerprint = fingerprintOf(head, bytes);
  const plan = early ?? chaos.plan({ route, method, fingerprint });
  note({ fingerprint, bytesIn: bytes.length, ...entered(plan) });

  const { fault } = plan;
  const answer = async (): Promise<Answer> => {
    const drawn = (kind: string): Fault | undefined => (fault?.kind === kind ? fault : undefined);
    const commit = (kind: string): Fault | undefined => {
      if (drawn(kind)) note({ fault: fault?.kind ?? null });
      return drawn(kind);
    };
    const request = requestFrom(incoming, head, bytes);
    return answerFrom(await upstream.answer(request, { host, request: note.id, drawn, commit }));
  };
  const real = fault && comesFirst(fault) ? EMPTY : await answer();
  const ready = (fault && substitute(fault, upstream, real)) ?? real;
  if (!(await pause(plan.waitMs - (performance.now() - arrived), outgoing))) return;
  const misdeliver = fault && misdeliveryOf(fault);
  await (misdeliver ?? deliver)(outgoing, ready);
}

/** Faults of content are entered when they are committed: where they make no sense nothing happens. */
function entered(plan: Plan | undefined): Pick<LogEntry, 'fault' | 'latencyMs'> {
  const kind = plan?.fault?.kind;
  const fault = kind === undefined || isContentFault(kind) ? null : kind;
  return { fault, latencyMs: plan?.latencyMs ?? 0 };
}

function outcomeOf(outgoing: ServerResponse): LogEntry['outcome'] {
  if (wasBroken(outgoing)) return 'broken';
  return outgoing.writableFinished ? 'answered' : 'client-left';
}

/** What was asked for, as far as the head of a request tells. */
interface Head {
  readonly method: string;
  readonly url: URL;
}

function headOf({ method = 'GET', url = '/' }: IncomingMessage, origin: string): Head {
  // Not as a relative address: then a path of two slashes would name a host.
  return { method, url: new URL(url.startsWith('/') ? origin + url : url) };
}

function requestFrom(incoming: IncomingMessage, head: Head, bytes: Buffer): Request {
  const headers = Object.entries(incoming.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const body = bytes.length > 0 ? { body: new Uint8Array(bytes) } : {};
  return new Request(head.url, { method: head.method, headers, ...body });
}

/** Equal for requests that ask the same, in whatever order they name their parameters. */
function fingerprintOf({ method, url }: Head, bytes: Buffer): string {
  const query = [...url.searchParams].map(([name, value]) => `${name}=${value}`).toSorted();
  const hash = createHash('sha256').update(`${method} ${url.pathname}?${query.join('&')}\n`);
  return hash.update(bytes).digest('hex').slice(0, 16);
}

/** Room for the largest piece of a file that an upstream takes at once, which is 5 MB, and its wrapping. */
const LARGEST = 8 * 1024 * 1024;

type ReadBody = { readonly bytes: Buffer } | { readonly failed: 'client-left' | 'too-large' };

async function readBody(incoming: IncomingMessage): Promise<ReadBody> {
  if (incoming.method === 'GET' || incoming.method === 'HEAD') return { bytes: Buffer.alloc(0) };
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > LARGEST) return { failed: 'too-large' };
      chunks.push(chunk);
    }
  } catch {
    return { failed: 'client-left' };
  }
  return { bytes: Buffer.concat(chunks) };
}

import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Fault, FaultInjector, ResponsePlan } from '../faults/injector.js';
import { isContentFault, type FaultKind } from '../faults/kinds.js';
import {
  faultySender,
  preventsHandling,
  reset,
  skipsBody,
  substitute,
  wasBroken,
} from './faulty-response.js';
import type { LogEntry, RequestLog } from './log.js';
import { pause, prepare, send, textResponse, type PreparedResponse } from './response.js';
import type { Upstream } from './upstream.js';

export interface ServerParts {
  readonly upstream: Upstream;
  readonly injector: FaultInjector;
  readonly log: RequestLog;
}

interface Connection {
  readonly host: string;
  readonly origin: string;
  readonly connection: number;
}

const NO_BYTES = Buffer.alloc(0);
const NO_RESPONSE = textResponse(200, 'text/plain', '');

/** Serves one request: logs it, draws its latency and fault, and responds or fails. */
export async function serveExchange(
  { upstream, injector, log }: ServerParts,
  { host, origin, connection }: Connection,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const arrived = performance.now();
  const head = headOf(incoming, origin);
  const { method, url } = head;
  const route = upstream.routeOf(method, url.pathname);
  const { canHave } = upstream;
  const arrival = {
    route,
    method,
    canHave: canHave && ((kind: FaultKind) => canHave(kind, route)),
  };

  // Drawn by arrival, the fault is known before the body is read, so a reset can precede the read.
  const early =
    injector.drawBy === 'arrival' ? injector.plan({ ...arrival, fingerprint: '' }) : undefined;
  const update = log.begin({
    at: Date.now(),
    host,
    connection,
    route,
    method,
    path: url.pathname,
    fingerprint: fingerprintOf(head, NO_BYTES),
    headers: Object.keys(incoming.headers),
    ...plannedEntry(early),
    bytesIn: 0,
    bytesOut: 0,
  });
  const sentBefore = incoming.socket.bytesWritten;
  outgoing.once('close', () =>
    update({
      status: outgoing.headersSent ? outgoing.statusCode : null,
      outcome: outcomeOf(outgoing),
      tookMs: performance.now() - arrived,
      bytesOut: incoming.socket.bytesWritten - sentBefore,
    }),
  );

  const isUnread = early?.fault !== undefined && skipsBody(early.fault);
  const bytes = isUnread ? NO_BYTES : await readBody(incoming);
  if (bytes === 'too-large') reset(outgoing);
  if (!(bytes instanceof Buffer)) return;
  const fingerprint = fingerprintOf(head, bytes);
  const plan = early ?? injector.plan({ ...arrival, fingerprint });
  update({ fingerprint, bytesIn: bytes.length, ...plannedEntry(plan) });

  const { fault } = plan;
  const handle = async (): Promise<PreparedResponse> => {
    const drawn = (kind: string): Fault | undefined => (fault?.kind === kind ? fault : undefined);
    const inject = (kind: string): Fault | undefined => {
      if (drawn(kind)) update({ fault: fault?.kind ?? null });
      return drawn(kind);
    };
    const request = requestFrom(incoming, head, bytes);
    const given = await upstream.handle(request, { host, request: update.id, drawn, inject });
    // A fault that breaks the body needs all of it.
    return prepare(given, fault !== undefined && faultySender(fault) !== undefined);
  };
  const real = fault && preventsHandling(fault) ? NO_RESPONSE : await handle();
  const response = (fault && substitute(fault, upstream, real)) ?? real;
  if (!(await pause(plan.waitMs - (performance.now() - arrived), outgoing))) return;
  await ((fault && faultySender(fault)) ?? send)(outgoing, response);
}

/** A content fault is logged when the upstream injects it: on other routes it has no effect. */
function plannedEntry(plan: ResponsePlan | undefined): Pick<LogEntry, 'fault' | 'latencyMs'> {
  const kind = plan?.fault?.kind;
  const fault = kind === undefined || isContentFault(kind) ? null : kind;
  return { fault, latencyMs: plan?.latencyMs ?? 0 };
}

function outcomeOf(outgoing: ServerResponse): LogEntry['outcome'] {
  if (wasBroken(outgoing)) return 'broken';
  return outgoing.writableFinished ? 'answered' : 'client-left';
}

interface Head {
  readonly method: string;
  readonly url: URL;
}

function headOf({ method = 'GET', url = '/' }: IncomingMessage, origin: string): Head {
  // Concatenated, because a relative URL of two slashes would name a host.
  return { method, url: new URL(url.startsWith('/') ? origin + url : url) };
}

function requestFrom(incoming: IncomingMessage, head: Head, bytes: Buffer): Request {
  const headers = Object.entries(incoming.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const body = bytes.length > 0 ? { body: new Uint8Array(bytes) } : {};
  return new Request(head.url, { method: head.method, headers, ...body });
}

/** Equal for requests with the same parameters, in any order. */
function fingerprintOf({ method, url }: Head, bytes: Buffer): string {
  const query = [...url.searchParams].map(([name, value]) => `${name}=${value}`).toSorted();
  const hash = createHash('sha256').update(`${method} ${url.pathname}?${query.join('&')}\n`);
  return hash.update(bytes).digest('hex').slice(0, 16);
}

/** Holds the largest segment of a media upload (5 MB) and its multipart envelope. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;

async function readBody(incoming: IncomingMessage): Promise<Buffer | 'client-left' | 'too-large'> {
  if (incoming.method === 'GET' || incoming.method === 'HEAD') return NO_BYTES;
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) return 'too-large';
      chunks.push(chunk);
    }
  } catch {
    return 'client-left';
  }
  return Buffer.concat(chunks);
}

import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Chaos, Fault, Plan } from '../chaos/chaos.js';
import { isContentFault } from '../chaos/kinds.js';
import { answerFrom, page, type Answer } from './answer.js';
import { deliver } from './deliver.js';
import type { RequestLog } from './log.js';
import { comesFirst, misdeliveryOf, reset, substitute, wasBroken } from './misdeliver.js';
import { pause } from './pause.js';
import { readBody } from './read-body.js';
import type { Upstream } from './upstream.js';

export interface Parts {
  readonly upstream: Upstream;
  readonly chaos: Chaos;
  readonly log: RequestLog;
}

export interface Caller {
  readonly host: string;
  readonly origin: string;
  readonly connection: number;
}

const EMPTY = page(200, 'text/plain', '');

/** One request, from its arrival to its end: logged, drawn for, delayed, answered or not. */
export async function exchange(
  { upstream, chaos, log }: Parts,
  { host, origin, connection }: Caller,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const arrived = performance.now();
  const method = incoming.method ?? 'GET';
  const path = incoming.url ?? '/';
  const url = new URL(path.startsWith('/') ? origin + path : path);
  const route = upstream.routeOf(method, url.pathname);
  const sentBefore = incoming.socket.bytesWritten;

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
    fingerprint: fingerprintOf(method, url, Buffer.alloc(0)),
    headers: Object.keys(incoming.headers),
    fault: faultOf(early),
    latencyMs: early?.latencyMs ?? 0,
    bytesIn: 0,
    bytesOut: 0,
  });
  outgoing.once('close', () => {
    note({
      status: outgoing.headersSent ? outgoing.statusCode : null,
      outcome: wasBroken(outgoing)
        ? 'broken'
        : outgoing.writableFinished
          ? 'answered'
          : 'client-left',
      tookMs: performance.now() - arrived,
      bytesOut: incoming.socket.bytesWritten - sentBefore,
    });
  });

  const unread = early?.fault?.kind === 'reset-before-read';
  const read = unread ? { bytes: Buffer.alloc(0) } : await readBody(incoming);
  if ('failed' in read) {
    if (read.failed === 'too-large') reset(outgoing);
    return;
  }
  const fingerprint = fingerprintOf(method, url, read.bytes);
  const plan = early ?? chaos.plan({ route, method, fingerprint });
  note({
    fingerprint,
    bytesIn: read.bytes.length,
    fault: faultOf(plan),
    latencyMs: plan.latencyMs,
  });
  const { fault } = plan;

  const answer = async (): Promise<Answer> => {
    const headers = Object.entries(incoming.headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value]),
    );
    const body = read.bytes.length > 0 ? { body: new Uint8Array(read.bytes) } : {};
    const request = new Request(url, { method, headers, ...body });
    const drawn = (kind: string) => (fault?.kind === kind ? fault : undefined);
    const commit = (kind: string) => {
      if (drawn(kind)) note({ fault: fault?.kind ?? null });
      return drawn(kind);
    };
    return answerFrom(await upstream.answer(request, { host, drawn, commit }));
  };

  const replaced = fault && substitute(fault, upstream);
  const ready = replaced ?? (fault && comesFirst(fault) ? EMPTY : await answer());
  if (!(await pause(plan.waitMs - (performance.now() - arrived), outgoing))) return;
  const misdeliver = fault && misdeliveryOf(fault);
  await (misdeliver ?? deliver)(outgoing, ready);
}

/** Faults of content are entered when they are committed: where they make no sense nothing happens. */
function faultOf(plan: Plan | undefined): Fault['kind'] | null {
  const kind = plan?.fault?.kind;
  return kind === undefined || isContentFault(kind) ? null : kind;
}

/** Equal for requests that ask the same, in whatever order they name their parameters. */
function fingerprintOf(method: string, url: URL, body: Buffer): string {
  const query = [...url.searchParams].map(([name, value]) => `${name}=${value}`).toSorted();
  const hash = createHash('sha256').update(`${method} ${url.pathname}?${query.join('&')}\n`);
  return hash.update(body).digest('hex').slice(0, 16);
}

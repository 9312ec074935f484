import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Chaos, Fault, Plan } from '../chaos/chaos.js';
import { isContentFault } from '../chaos/kinds.js';
import { answerFrom, page, type Answer } from './answer.js';
import { deliver } from './deliver.js';
import type { LogEntry, RequestLog } from './log.js';
import { comesFirst, isUnread, misdeliveryOf, reset, substitute, wasBroken } from './misdeliver.js';
import { pause } from './pause.js';
import { readBody } from './read-body.js';
import { fingerprintOf, headOf, requestFrom } from './request.js';
import type { Upstream } from './upstream.js';

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

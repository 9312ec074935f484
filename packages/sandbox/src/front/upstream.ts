import type { Fault } from '../chaos/chaos.js';
import type { ContentFault } from '../chaos/kinds.js';

/** What an upstream's code learns of the exchange that it answers. */
export interface Seat {
  /** Which of the upstream's addresses the request came to. */
  readonly host: string;
  /** The request's id in the log. */
  readonly request: number;
  /** The fault, if this one was drawn. */
  readonly drawn: (kind: ContentFault) => Fault | undefined;
  /** The same, and the log will say that it happened. */
  readonly commit: (kind: ContentFault) => Fault | undefined;
}

export interface OutageBody {
  readonly type: string;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A service to imitate. It knows nothing of sockets, and of faults only those that it must commit itself. */
export interface Upstream {
  /** All names that it gives. */
  readonly routes: readonly string[];
  /** The faults of content that it can commit. */
  readonly contentFaults: readonly ContentFault[];
  /** The name under which faults, latencies and the log know a request. */
  readonly routeOf: (method: string, path: string) => string;
  readonly answer: (request: Request, seat: Seat) => Response | Promise<Response>;
  /** What it says while it is failing with a status. */
  readonly outage: (status: number) => OutageBody;
}

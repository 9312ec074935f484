import type { Fault } from '../faults/injector.js';
import type { ContentFault } from '../faults/kinds.js';
import { Hono, type Context } from 'hono';
import { TrieRouter } from 'hono/router/trie-router';

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

export type RouteContext = Context<{ Bindings: Seat }>;

const methods = ['GET', 'POST', 'PUT', 'DELETE'] as const;
type Method = (typeof methods)[number];

export interface Route {
  readonly name: string;
  readonly method: Method;
  readonly path: string;
  readonly handle: (context: RouteContext) => Response | Promise<Response>;
}

interface Router {
  readonly app: Hono<{ Bindings: Seat }>;
  readonly names: readonly string[];
  readonly routeOf: (method: string, path: string) => string;
  /** The methods that a path knows. */
  readonly methodsOf: (path: string) => string[];
}

/** The name of everything that has no route. */
const UNKNOWN = 'unknown';

/** One table for answering and for naming, so that a fault strikes exactly where an answer comes from. */
export function createRouter(routes: readonly Route[]): Router {
  const app = new Hono<{ Bindings: Seat }>();
  const names = new TrieRouter<string>();
  for (const { name, method, path, handle } of routes) {
    app.on(method, path, handle);
    names.add(method, path, name);
  }
  const routeOf = (method: string, path: string): string => {
    const [[first] = []] = names.match(method === 'HEAD' ? 'GET' : method, path);
    return first?.[0] ?? UNKNOWN;
  };
  return {
    app,
    names: [...new Set(routes.map(({ name }) => name)), UNKNOWN],
    routeOf,
    methodsOf: (path) => methods.filter((method) => routeOf(method, path) !== UNKNOWN),
  };
}

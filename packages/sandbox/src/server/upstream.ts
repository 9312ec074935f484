import { Hono, type Context } from 'hono';
import { TrieRouter } from 'hono/router/trie-router';
import type { Fault } from '../faults/injector.js';
import type { ContentFault, FaultKind } from '../faults/kinds.js';

/** The exchange that an upstream responds to. */
export interface Exchange {
  /** The listener that the request arrived at. */
  readonly host: string;
  /** The request's id in the log. */
  readonly request: number;
  /** The fault, if it was drawn for this request. */
  readonly drawn: (kind: ContentFault) => Fault | undefined;
  /** The same, and records in the log that the fault was injected. */
  readonly inject: (kind: ContentFault) => Fault | undefined;
}

export interface OutageBody {
  readonly type: string;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An imitated service. It knows nothing of sockets, and only those faults that it injects itself. */
export interface Upstream {
  readonly routes: readonly string[];
  readonly contentFaults: readonly ContentFault[];
  /** The route name that faults, latencies and the log use. */
  readonly routeOf: (method: string, path: string) => string;
  /** Whether a fault without routes may be drawn on this route. Default: any. */
  readonly canHave?: (kind: FaultKind, route: string) => boolean;
  readonly handle: (request: Request, exchange: Exchange) => Response | Promise<Response>;
  /** The body of an injected error status. */
  readonly outageBody: (status: number) => OutageBody;
}

export type RouteContext = Context<{ Bindings: Exchange }>;

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export interface Route {
  readonly name: string;
  readonly method: (typeof methods)[number];
  readonly path: string;
  readonly handle: (context: RouteContext) => Response | Promise<Response>;
}

const UNKNOWN = 'unknown';

/** Builds the application and the route names from one table, so that faults match the handlers. */
export function createRouter(routes: readonly Route[]) {
  const app = new Hono<{ Bindings: Exchange }>();
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
    /** The methods that a path supports. */
    methodsOf: (path: string) => methods.filter((method) => routeOf(method, path) !== UNKNOWN),
  };
}

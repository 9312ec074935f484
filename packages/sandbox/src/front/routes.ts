import { Hono, type Context } from 'hono';
import { TrieRouter } from 'hono/router/trie-router';
import type { Seat } from './upstream.js';

export type RouteContext = Context<{ Bindings: Seat }>;

const methods = ['GET', 'POST', 'PUT', 'DELETE'] as const;
type Method = (typeof methods)[number];

export interface Route {
  readonly name: string;
  readonly method: Method;
  readonly path: string;
  readonly handle: (context: RouteContext) => Response | Promise<Response>;
}

export interface Router {
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

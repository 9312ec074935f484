import type { Context } from 'hono';
import { Hono } from 'hono';
import type { Access } from '../http/access.js';
import { checkSameOrigin, identify, type Operator } from './access.js';
import { AuditWatch } from './audit-watch.js';
import type { ConsoleOptions } from './console.js';
import { ApiError, apiErrorOf, internalError } from './errors.js';
import { EventStreams } from './events.js';
import { LiveState } from './live-state.js';
import { actionRoutes } from './routes/actions.js';
import { auditRoutes } from './routes/audit.js';
import { callRoutes } from './routes/calls.js';
import { operationRoutes } from './routes/operations.js';
import { scriptRoutes } from './routes/scripts.js';
import { sessionRoutes, signInRoute } from './routes/session.js';
import { toolRoutes } from './routes/tools.js';
import { liveRoutes, updatesFor } from './routes/updates.js';
import type { Sessions } from './sessions.js';
import type { TextPreviewOf } from './text-preview.js';

export interface ApiOptions extends ConsoleOptions {
  readonly sessions: Sessions;
  readonly textPreview: TextPreviewOf;
  readonly linkTo: (
    url: string,
    name: string,
    isNamed?: boolean,
  ) => { readonly link: string; readonly expiresAt: number };
}

/** What the routes share. */
export interface RouteDeps extends ApiOptions {
  readonly live: LiveState;
  readonly audit: AuditWatch;
  readonly streams: EventStreams;
}

/** Returns the body of the response, or a response of its own; throws an ApiError. */
export type Route = (context: Context, operator: Operator) => Promise<unknown>;

export interface Routes {
  readonly get?: Readonly<Record<string, Route>>;
  readonly post?: Readonly<Record<string, Route>>;
}

interface Api {
  readonly fetch: (request: Request, access: Access) => Promise<Response>;
  readonly close: () => void;
}

/** The HTTP API of the console, JSON only; see `@toolkeel/console` for its types. */
export function createApi(options: ApiOptions): Api {
  const { sessions, token, scrub, log, journal } = options;
  const live = new LiveState(journal);
  const audit = new AuditWatch(async () => (await journal()).store);
  const update = updatesFor(options, live, audit);
  const streams = new EventStreams({ update, scrub, log });
  const deps: RouteDeps = { ...options, live, audit, streams };

  const respond = (status: number, body: unknown): Response =>
    new Response(scrub(JSON.stringify(body)), {
      status,
      headers: {
        'content-type': 'application/json',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        ...(status === 401 && { 'www-authenticate': 'Bearer' }),
      },
    });
  const refuse = (path: string, cause: unknown): Response => {
    const known = apiErrorOf(cause);
    if (!known) log('error', 'unexpected', { path, cause });
    const error = known ?? internalError();
    return respond(error.status, error.body);
  };
  const handle =
    (run: (context: Context) => Promise<unknown>) =>
    async (context: Context): Promise<Response> => {
      try {
        const result = await run(context);
        return result instanceof Response ? result : respond(200, result);
      } catch (cause) {
        return refuse(context.req.path, cause);
      }
    };
  const authorized = (route: Route) =>
    handle((context) =>
      route(context, identify(context.req.raw.headers, { sessions, token: () => token.reveal() })),
    );

  const app = new Hono();
  app.post('/api/session', handle(signInRoute(deps)));
  const routes: readonly Routes[] = [
    sessionRoutes(deps),
    liveRoutes(deps),
    callRoutes(deps),
    operationRoutes(deps),
    actionRoutes(deps),
    scriptRoutes(deps),
    toolRoutes(deps),
    auditRoutes(deps),
  ];
  for (const { get = {}, post = {} } of routes) {
    for (const [path, route] of Object.entries(get)) app.get(`/api${path}`, authorized(route));
    for (const [path, route] of Object.entries(post)) app.post(`/api${path}`, authorized(route));
  }
  // Also for unknown paths: without a credential, not even the routes can be explored.
  app.all(
    '*',
    authorized(() => {
      const advice = 'See the description of the API.';
      throw new ApiError(404, 'not_found', 'There is no such route.', advice);
    }),
  );

  return {
    close: () => streams.close(),
    fetch: async (request, access) => {
      try {
        checkSameOrigin(request.headers, access);
      } catch (cause) {
        return refuse(new URL(request.url).pathname, cause);
      }
      return app.fetch(request);
    },
  };
}

import type { HttpBindings } from '@hono/node-server';
import { Hono, type Context } from 'hono';
import type { Console } from '../console/console.js';
import type { HealthReport } from '../health.js';
import { checkToken, type Access, type AccessRefusal } from './access.js';
import type { McpRoute } from './mcp-route.js';

export interface AppOptions {
  readonly access: Access;
  readonly mcp: McpRoute;
  readonly isStopping: () => boolean;
  readonly health: () => Promise<HealthReport>;
  readonly metrics: () => Promise<{ readonly type: string; readonly text: string }>;
  /** The only token for `/metrics`. Default: the token of all other routes. */
  readonly metricsToken?: (() => string) | undefined;
  /** Adds routes behind the same access checks, such as the console. */
  readonly mount?: ((app: Hono) => void) | undefined;
  readonly console?: Console | undefined;
}

export function createApp(options: AppOptions): Hono {
  const { access, mcp, isStopping, health, metrics, metricsToken, mount } = options;
  const app = new Hono();

  app.use(async (context, next) => {
    const { path } = context.req;
    const { headers } = context.req.raw;
    // The console has credentials of its own, which are valid for nothing else.
    const page =
      path === '/mcp' ? undefined : await options.console?.fetch(context.req.raw, access);
    if (page) return page;
    const refusal =
      path === '/metrics' && metricsToken
        ? (access.checkOrigin(headers) ?? checkToken(headers, metricsToken))
        : path === '/healthz'
          ? access.checkOrigin(headers)
          : access.check(headers);
    return refusal ? refuse(context, refusal) : next();
  });

  app.all('/mcp', (context) => {
    if (isStopping()) return refuseStopping(context);
    const { outgoing } = context.env as Partial<HttpBindings>;
    return mcp.fetch(context.req.raw, outgoing);
  });

  app.get('/healthz', async (context) => {
    // The status is about this process only: restarting it does not fix an upstream.
    const alive = !isStopping();
    const status = alive ? 200 : 503;
    // Only authorized clients see the health of packs, because checking it queries upstreams.
    const isAuthorized = access.check(context.req.raw.headers) === undefined;
    return context.json({ alive, ...(isAuthorized && (await health())) }, status);
  });

  app.get('/metrics', async (context) => {
    const { type, text } = await metrics();
    return context.body(text, 200, { 'content-type': type });
  });

  mount?.(app);
  app.notFound((context) => context.json({ error: 'Not found.' }, 404));
  app.onError((_error, context) => context.json({ error: 'Internal error.' }, 500));
  return app;
}

function refuse(context: Context, { status, message }: AccessRefusal): Response {
  if (status === 401) context.header('www-authenticate', 'Bearer');
  return context.json({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }, status);
}

function refuseStopping(context: Context): Response {
  context.header('connection', 'close');
  context.header('retry-after', '1');
  const error = { code: -32_000, message: 'The server is stopping.' };
  return context.json({ jsonrpc: '2.0', error, id: null }, 503);
}

import type { HttpBindings } from '@hono/node-server';
import { Hono, type Context } from 'hono';
import type { OperatorApi } from '../govern/api/api.js';
import type { Probed } from '../health.js';
import { refuseStranger, type Gate, type Refusal } from './gate.js';
import type { McpRoute } from './mcp-route.js';

export interface AppOptions {
  readonly gate: Gate;
  readonly mcp: McpRoute;
  readonly isStopping: () => boolean;
  readonly health: () => Promise<Probed>;
  readonly metrics: () => Promise<{ readonly type: string; readonly text: string }>;
  /** Opens `/metrics` instead of the token of the gate. */
  readonly metricsToken?: (() => string) | undefined;
  /** Further routes, behind the same gate: the console, say. */
  readonly mount?: ((app: Hono) => void) | undefined;
  readonly api?: OperatorApi | undefined;
}

export function createApp(options: AppOptions): Hono {
  const { gate, mcp, isStopping, health, metrics, metricsToken, mount, api } = options;
  const app = new Hono();

  app.use(async (context, next) => {
    const { path } = context.req;
    const { headers } = context.req.raw;
    // What clients of /mcp show opens nothing here, and the other way round.
    if (api && (path === '/api' || path.startsWith('/api/'))) {
      const refusal = gate.refuseForeign(headers) ?? refuseStranger(headers, api.token);
      return refusal ? unknownPerson(context, refusal) : next();
    }
    if (path === '/metrics' && metricsToken) {
      const refusal = gate.refuseForeign(headers) ?? refuseStranger(headers, metricsToken);
      return refusal ? refused(context, refusal) : next();
    }
    const refusal = path === '/healthz' ? gate.refuseForeign(headers) : gate.refuse(headers);
    if (refusal) return refused(context, refusal);
    await next();
    return undefined;
  });

  app.all('/mcp', (context) => {
    if (isStopping()) return stopping(context);
    const { outgoing } = context.env as Partial<HttpBindings>;
    return mcp.fetch(context.req.raw, outgoing);
  });

  app.get('/healthz', async (context) => {
    // The status is about this process alone: whoever restarts it repairs no upstream.
    const alive = !isStopping();
    const status = alive ? 200 : 503;
    // How it fares is for those who may come in, and only they can have upstreams asked.
    const isKnown = gate.refuse(context.req.raw.headers) === undefined;
    return context.json({ alive, ...(isKnown && (await health())) }, status);
  });

  app.get('/metrics', async (context) => {
    const { type, text } = await metrics();
    return context.body(text, 200, { 'content-type': type });
  });

  api?.mount(app);
  mount?.(app);
  app.notFound((context) => context.json({ error: 'There is nothing here.' }, 404));
  app.onError((_error, context) => context.json({ error: 'Something broke.' }, 500));
  return app;
}

function refused(context: Context, { status, message }: Refusal): Response {
  if (status === 401) context.header('www-authenticate', 'Bearer');
  return context.json({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }, status);
}

function unknownPerson(context: Context, { status, message }: Refusal): Response {
  if (status === 401) context.header('www-authenticate', 'Bearer');
  const advice =
    status === 401 ? 'Send the token that is in console.token in the data directory.' : message;
  return context.json({ error: { code: 'refused', message, what_to_do: advice } }, status);
}

function stopping(context: Context): Response {
  context.header('connection', 'close');
  context.header('retry-after', '1');
  const error = { code: -32_000, message: 'The server is stopping.' };
  return context.json({ jsonrpc: '2.0', error, id: null }, 503);
}

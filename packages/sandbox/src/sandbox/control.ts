import { randomBytes } from 'node:crypto';
import { Hono, type Context } from 'hono';
import * as z from 'zod';
import { createChaos } from '../chaos/chaos.js';
import type { Latency } from '../chaos/latency.js';
import type { FaultRule } from '../chaos/rule.js';
import { UsageError } from '../chaos/usage.js';
import { openFront, type Front } from '../front/front.js';
import { createLog } from '../front/log.js';
import type { Sandbox } from './open.js';

type Controlled = Omit<Sandbox, 'control' | 'close'> & {
  readonly origins: Readonly<Record<string, string>>;
};

/** More than every upstream offers: what to show, and what can be asked or set under which path. */
export interface ExtraControl {
  readonly state: () => object;
  readonly reads: Readonly<Record<string, (query: Readonly<Record<string, string>>) => object>>;
  readonly sets: Readonly<Record<string, (given: unknown) => unknown>>;
}

/** The same that the JavaScript interface offers, over HTTP and JSON, for another process. */
export async function openControl(
  sandbox: Controlled,
  port: number,
  extra?: ExtraControl,
): Promise<Front & { readonly url: string }> {
  const base = `/__control/${randomBytes(12).toString('base64url')}`;
  const routed = new Hono().route(base, controlApp(sandbox, extra));
  const upstream = {
    routes: ['control'],
    contentFaults: [],
    routeOf: () => 'control',
    answer: (request: Request) => routed.fetch(request),
    outage: () => ({ type: 'text/plain', text: '' }),
  };
  const quiet = { chaos: createChaos({ seed: 0 }), log: createLog(1) };
  const front = await openFront({ ...quiet, upstream, host: 'control', port });
  return { ...front, url: front.origin + base };
}

function controlApp(sandbox: Controlled, extra?: ExtraControl): Hono {
  const app = new Hono();
  const state = () => ({
    origins: sandbox.origins,
    faults: sandbox.faults(),
    latency: sandbox.latency(),
    counts: sandbox.counts(),
    ...extra?.state(),
  });
  app.get('/', (context) => context.json(state()));
  app.put('/faults', (context) =>
    applied(context, z.custom<readonly FaultRule[]>(), (rules) => sandbox.setFaults(rules)),
  );
  app.put('/latency', (context) =>
    applied(context, z.custom<Latency>(), (latency) => sandbox.setLatency(latency)),
  );
  app.get('/counts', (context) => context.json(sandbox.counts()));
  app.get('/log', (context) => {
    const query = logQuerySchema.safeParse(context.req.query());
    if (!query.success) return context.json({ error: z.prettifyError(query.error) }, 400);
    return context.json({ entries: sandbox.log(query.data) });
  });
  app.delete('/log', (context) => {
    sandbox.clearLog();
    return context.body(null, 204);
  });
  app.post('/restart', (context) =>
    applied(context, restartSchema, ({ seed }) => sandbox.restart(seed)),
  );
  app.put('/reachable', (context) =>
    applied(context, reachableSchema, ({ reachable }) => sandbox.setReachable(reachable)),
  );
  for (const [path, read] of Object.entries(extra?.reads ?? {}))
    app.get(path, (context) => answered(context, () => read(context.req.query())));
  for (const [path, set] of Object.entries(extra?.sets ?? {}))
    app.put(path, (context) => applied(context, z.unknown(), set));
  return app;
}

const reachableSchema = z.strictObject({ reachable: z.boolean() });

const restartSchema = z.strictObject({ seed: z.exactOptional(z.int()) });

const logQuerySchema = z.strictObject({
  after: z.exactOptional(z.coerce.number().int()),
  route: z.exactOptional(z.string()),
  limit: z.exactOptional(z.coerce.number().int().min(0)),
});

/** Takes effect for requests that arrive from now on. */
async function applied<Value>(
  context: Context,
  schema: z.ZodType<Value>,
  apply: (value: Value) => unknown,
): Promise<Response> {
  const text = await context.req.text();
  let given: unknown;
  try {
    given = JSON.parse(text || '{}');
  } catch {
    return context.json({ error: 'The body is not JSON' }, 400);
  }
  const checked = schema.safeParse(given);
  if (!checked.success) return context.json({ error: z.prettifyError(checked.error) }, 400);
  return answered(context, () => apply(checked.data));
}

/** With what came out, or 204 if that is nothing. */
async function answered(context: Context, act: () => unknown): Promise<Response> {
  try {
    const result = await act();
    return result === undefined ? context.body(null, 204) : context.json(result);
  } catch (cause) {
    if (cause instanceof UsageError) return context.json({ error: cause.message }, 400);
    throw cause;
  }
}

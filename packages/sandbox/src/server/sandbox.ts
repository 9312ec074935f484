import { randomBytes } from 'node:crypto';
import { Hono, type Context } from 'hono';
import * as z from 'zod';
import { createFaultInjector, type InjectorOptions } from '../faults/injector.js';
import {
  checkedFaults,
  checkedLatency,
  NO_LATENCY,
  UsageError,
  type FaultRule,
  type Latency,
} from '../faults/rules.js';
import { openListener, type Listener } from './listener.js';
import { createLog, type Counts, type LogEntry, type LogQuery } from './log.js';
import type { Upstream } from './upstream.js';

/** The options that all sandboxes have. */
export interface CommonOptions extends Partial<InjectorOptions> {
  /** The port of the API on 127.0.0.1. Default for all ports: any free one. */
  readonly port?: number;
  readonly controlPort?: number;
  /** The seed of the data and of all draws. Default: 1. */
  readonly seed?: number;
  /** The capacity of the request log. Default: 10,000. */
  readonly logCapacity?: number;
}

interface SandboxOptions extends CommonOptions {
  readonly seed: number;
  /** Ports by the name of the listener, the API's first. 0 is any free port. */
  readonly ports: Readonly<Record<string, number>>;
  readonly extraControl?: ExtraControl;
}

/** The operations that every running sandbox supports. */
export interface Sandbox {
  /** The control endpoint, for other processes: a separate port, and an unguessable path. */
  readonly control: { readonly url: string };
  readonly log: (query?: LogQuery) => LogEntry[];
  readonly counts: () => Counts;
  readonly clearLog: () => void;
  readonly faults: () => readonly FaultRule[];
  readonly setFaults: (rules: readonly FaultRule[]) => void;
  readonly latency: () => Latency;
  readonly setLatency: (latency: Latency) => void;
  /** While unreachable, the ports are closed and connections are refused. */
  readonly setReachable: (reachable: boolean) => Promise<void>;
  /** Clears the log and restarts the draws, with the same seed or another one. */
  readonly restart: (seed?: number) => void;
  readonly close: () => Promise<void>;
}

/** Opens the listeners, and creates the upstream once the origins for its links are known. */
export async function openSandbox(
  options: SandboxOptions,
  createUpstream: (origins: Readonly<Record<string, string>>) => Upstream,
): Promise<Sandbox & { readonly origins: Readonly<Record<string, string>> }> {
  const { faults = [], latency = NO_LATENCY, ...injectorOptions } = options;
  const injector = createFaultInjector(injectorOptions);
  const log = createLog(options.logCapacity);
  let created: Upstream | undefined;
  const upstream: Upstream = {
    routes: [],
    contentFaults: [],
    routeOf: (method, path) => created?.routeOf(method, path) ?? '',
    canHave: (kind, route) => created?.canHave?.(kind, route) ?? true,
    handle: (request, exchange) =>
      created?.handle(request, exchange) ?? new Response(null, { status: 503 }),
    outageBody: (status) => created?.outageBody(status) ?? { type: 'text/plain', text: '' },
  };

  const listeners = new Map<string, Listener>();
  const close = async (): Promise<void> => {
    await Promise.all([...listeners.values()].map((listener) => listener.close()));
  };
  try {
    for (const [host, port] of Object.entries(options.ports))
      listeners.set(host, await openListener({ upstream, injector, log, host, port }));
    const origins = Object.fromEntries([...listeners].map(([host, { origin }]) => [host, origin]));
    const own = [...listeners.values()];
    const target = createUpstream(origins);
    created = target;
    const handle = {
      log: log.entries,
      counts: log.counts,
      clearLog: log.clear,
      faults: injector.faults,
      setFaults: (rules: readonly FaultRule[]) => injector.setFaults(checkedFaults(rules, target)),
      latency: injector.latency,
      setLatency: (given: Latency) => injector.setLatency(checkedLatency(given, target.routes)),
      setReachable: async (reachable: boolean) => {
        await Promise.all(own.map((listener) => listener.setReachable(reachable)));
      },
      restart: (seed?: number) => {
        log.clear();
        injector.restart(seed);
      },
    };
    handle.setFaults(faults);
    handle.setLatency(latency);
    const controlled = { ...handle, origins };
    const control = await openControl(controlled, options.controlPort ?? 0, options.extraControl);
    listeners.set('control', control);
    return { ...handle, origins, control: { url: control.url }, close };
  } catch (cause) {
    await close();
    throw cause;
  }
}

type Controlled = Omit<Sandbox, 'control' | 'close'> & {
  readonly origins: Readonly<Record<string, string>>;
};

/** Additional state, and routes for GET and PUT, that one upstream's control endpoint has. */
export interface ExtraControl {
  readonly state: () => object;
  readonly reads: Readonly<Record<string, (query: Readonly<Record<string, string>>) => object>>;
  readonly sets: Readonly<Record<string, (given: unknown) => unknown>>;
}

/** Serves the operations of {@link Sandbox} over HTTP and JSON. */
async function openControl(
  sandbox: Controlled,
  port: number,
  extra?: ExtraControl,
): Promise<Listener & { readonly url: string }> {
  const base = `/__control/${randomBytes(12).toString('base64url')}`;
  const app = new Hono().route(base, controlApp(sandbox, extra));
  const upstream = {
    routes: ['control'],
    contentFaults: [],
    routeOf: () => 'control',
    handle: (request: Request) => app.fetch(request),
    outageBody: () => ({ type: 'text/plain', text: '' }),
  };
  const noFaults = { injector: createFaultInjector({ seed: 0 }), log: createLog(1) };
  const listener = await openListener({ ...noFaults, upstream, host: 'control', port });
  return { ...listener, url: listener.origin + base };
}

function controlApp(sandbox: Controlled, extra?: ExtraControl): Hono {
  const app = new Hono();
  app.get('/', (context) =>
    context.json({
      origins: sandbox.origins,
      faults: sandbox.faults(),
      latency: sandbox.latency(),
      counts: sandbox.counts(),
      ...extra?.state(),
    }),
  );
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
    app.get(path, (context) => resultOf(context, () => read(context.req.query())));
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

/** Applies a request's body; it takes effect for requests that arrive afterwards. */
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
  return resultOf(context, () => apply(checked.data));
}

/** Responds with the result, or with 204 without one. */
async function resultOf(context: Context, act: () => unknown): Promise<Response> {
  try {
    const result = await act();
    return result === undefined ? context.body(null, 204) : context.json(result);
  } catch (cause) {
    if (cause instanceof UsageError) return context.json({ error: cause.message }, 400);
    throw cause;
  }
}

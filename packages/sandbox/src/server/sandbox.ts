import { type ChaosOptions, createChaos } from '../faults/injector.js';
import {
  checkedFaults,
  checkedLatency,
  type FaultRule,
  type Latency,
  NO_LATENCY,
  UsageError,
} from '../faults/rules.js';
import { type Front, openFront } from './listener.js';
import { type Counts, createLog, type LogEntry, type LogQuery } from './log.js';
import type { Upstream } from './upstream.js';
import { randomBytes } from 'node:crypto';
import { Hono, type Context } from 'hono';
import * as z from 'zod';

interface OpenOptions extends ChaosOptions {
  /** Ports by the name of the address; the first one is the upstream's own. 0 is any that is free. */
  readonly ports: Readonly<Record<string, number>>;
  readonly controlPort?: number;
  readonly logCapacity?: number;
  /** What this upstream offers beside what all offer. */
  readonly extraControl?: ExtraControl;
}

/** What can be done to a running upstream, whichever it is. */
export interface Sandbox {
  /** For another process: another port, and a path that nobody can guess. */
  readonly control: { readonly url: string };
  readonly log: (query?: LogQuery) => LogEntry[];
  readonly counts: () => Counts;
  readonly clearLog: () => void;
  readonly faults: () => readonly FaultRule[];
  readonly setFaults: (rules: readonly FaultRule[]) => void;
  readonly latency: () => Latency;
  readonly setLatency: (latency: Latency) => void;
  /** While it is not reachable, connections are refused, as by a host where nothing listens. */
  readonly setReachable: (reachable: boolean) => Promise<void>;
  /** Empties the log and begins the same draws again, or those of another seed. */
  readonly restart: (seed?: number) => void;
  readonly close: () => Promise<void>;
}

/** Opens an upstream on its addresses. The upstream is made when they are known, for its links. */
export async function openSandbox(
  options: OpenOptions,
  upstreamAt: (origins: Readonly<Record<string, string>>) => Upstream,
): Promise<Sandbox & { readonly origins: Readonly<Record<string, string>> }> {
  const { faults = [], latency = NO_LATENCY, ...luck } = options;
  const chaos = createChaos(luck);
  const log = createLog(options.logCapacity);
  let upstream: Upstream | undefined;
  // Nobody knows the addresses yet, so nobody can ask before there is an upstream.
  const later: Upstream = {
    routes: [],
    contentFaults: [],
    routeOf: (method, path) => upstream?.routeOf(method, path) ?? '',
    answer: (request, seat) =>
      upstream?.answer(request, seat) ?? new Response(null, { status: 503 }),
    outage: (status) => upstream?.outage(status) ?? { type: 'text/plain', text: '' },
  };

  const fronts = new Map<string, Front>();
  const close = async (): Promise<void> => {
    await Promise.all([...fronts.values()].map((front) => front.close()));
  };
  try {
    for (const [host, port] of Object.entries(options.ports))
      fronts.set(host, await openFront({ upstream: later, chaos, log, host, port }));
    const origins = Object.fromEntries([...fronts].map(([host, { origin }]) => [host, origin]));
    const own = [...fronts.values()];
    const made = upstreamAt(origins);
    upstream = made;
    const handle = {
      log: log.entries,
      counts: log.counts,
      clearLog: log.clear,
      faults: chaos.faults,
      setFaults: (rules: readonly FaultRule[]) => chaos.setFaults(checkedFaults(rules, made)),
      latency: chaos.latency,
      setLatency: (shape: Latency) => chaos.setLatency(checkedLatency(shape, made.routes)),
      setReachable: async (reachable: boolean) => {
        await Promise.all(own.map((front) => front.setReachable(reachable)));
      },
      restart: (seed?: number) => {
        log.clear();
        chaos.restart(seed);
      },
    };
    handle.setFaults(faults);
    handle.setLatency(latency);
    const controlled = { ...handle, origins };
    const control = await openControl(controlled, options.controlPort ?? 0, options.extraControl);
    fronts.set('control', control);
    return { ...handle, origins, control: { url: control.url }, close };
  } catch (cause) {
    await close();
    throw cause;
  }
}

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
async function openControl(
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

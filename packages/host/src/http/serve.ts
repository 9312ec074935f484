import type { McpServer } from '@modelcontextprotocol/server';
import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono';
import type { Deliveries } from '../call/deliveries.js';
import type { Console } from '../console/console.js';
import type { HostLog } from '../log/log.js';
import { createAccess, requireTokens } from './access.js';
import { createApp, type AppOptions } from './app.js';
import type { DirectCalls } from '../mcp/direct-calls.js';
import { bind, DEFAULT_BODY_LIMIT, DEFAULT_HTTP_HOST, unbind, type Timeouts } from './listen.js';
import { createMcpRoute } from './mcp-route.js';

/** Lets finished responses reach their clients before connections are closed. */
const FLUSH_MS = 50;

export interface HttpOptions {
  /** Default: 127.0.0.1. Any other than a loopback address requires a token. */
  readonly host?: string;
  /** Default: 7411. 0 selects a free port. */
  readonly port?: number;
  readonly token?: { readonly reveal: () => string };
  /** The only token for `/metrics`, and valid for nothing else. Default: `token`. */
  readonly metricsToken?: { readonly reveal: () => string };
  readonly allowedHosts?: readonly string[];
  readonly allowedOrigins?: readonly string[];
  /** Default: 4 MiB. */
  readonly bodyLimitBytes?: number;
  readonly timeouts?: Partial<Timeouts>;
  /** The maximum number of sessions of protocol 2025-11-25. Default: 1000. */
  readonly maxSessions?: number;
  /** Default: 30 minutes. */
  readonly sessionIdleMs?: number;
  /** How long calls in flight may continue when the server stops. Default: until their deadlines. */
  readonly graceMs?: number;
  /** Adds routes behind the same access checks. */
  readonly mount?: (app: Hono) => void;
  /** The console and its API, which have their own credentials: `governance.console(…)`. */
  readonly console?: Console;
}

export interface HttpHandle {
  /** The base URL on this machine. MCP is at `/mcp`. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** What the host provides to its HTTP server. */
export interface HttpDeps {
  readonly createServer: () => McpServer;
  readonly direct: DirectCalls;
  readonly deliveries: Deliveries;
  readonly log: HostLog;
  /** The longest time limit of any call. */
  readonly longestCallMs: number;
  readonly drain: (graceMs?: number) => Promise<void>;
  readonly health: AppOptions['health'];
  readonly metrics: AppOptions['metrics'];
}

export async function serveOnHttp(
  { createServer, direct, deliveries, log, longestCallMs, drain, health, metrics }: HttpDeps,
  options: HttpOptions = {},
): Promise<HttpHandle> {
  const { host = DEFAULT_HTTP_HOST, token, metricsToken } = options;
  const { graceMs, bodyLimitBytes = DEFAULT_BODY_LIMIT, mount, console } = options;
  requireTokens(host, token?.reveal(), metricsToken?.reveal());
  let isStopping = false;
  const { allowedHosts, allowedOrigins } = options;
  const access = createAccess({
    host,
    allowedHosts,
    allowedOrigins,
    token: token && (() => token.reveal()),
  });
  const mcp = createMcpRoute({
    createServer,
    direct,
    access,
    isStopping: () => isStopping,
    deliveries,
    onError: (error) => log('debug', 'request_refused', { message: error.message }),
    bodyLimit: bodyLimitBytes,
    maxSessions: options.maxSessions ?? 1000,
    sessionIdleMs: options.sessionIdleMs ?? 30 * 60_000,
    longestCallMs,
  });
  const app = createApp({
    access,
    mcp,
    isStopping: () => isStopping,
    health,
    metrics,
    metricsToken: metricsToken && (() => metricsToken.reveal()),
    mount,
    console,
  });
  const fetch = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const { server, url } = await bind(options, (incoming, outgoing) => {
    mcp.direct(incoming, outgoing, () => void fetch(incoming, outgoing));
  });
  console?.listening(url);
  log('info', 'listening', { url, host });
  return {
    url,
    close: async () => {
      if (isStopping) return;
      isStopping = true;
      console?.close();
      const finished = drain(graceMs)
        .then(() => new Promise<void>((resolve) => setTimeout(resolve, FLUSH_MS)))
        .then(() => mcp.close());
      await unbind(server, finished);
      log('info', 'stopped', { url });
    },
  };
}

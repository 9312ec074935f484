import type { McpServer } from '@modelcontextprotocol/server';
import type { Hono } from 'hono';
import type { Deliveries } from '../call/deliveries.js';
import type { OperatorApi } from '../govern/api/api.js';
import type { HostLog } from '../log/log.js';
import { createApp, type AppOptions } from './app.js';
import { createGate } from './gate.js';
import { bind, refuseOpenBind, unbind, type Timeouts } from './listen.js';
import { createMcpRoute } from './mcp-route.js';

const DEFAULT_HTTP_HOST = '127.0.0.1';
const DEFAULT_HTTP_PORT = 7411;

export interface HttpOptions {
  /** Default: 127.0.0.1. Anything that others can reach needs a token. */
  readonly host?: string;
  /** Default: 7411. 0 takes one that is free. */
  readonly port?: number;
  readonly token?: { readonly reveal: () => string };
  /** The only token that opens `/metrics`, and it opens nothing else. Default: `token`. */
  readonly metricsToken?: { readonly reveal: () => string };
  readonly allowedHosts?: readonly string[];
  readonly allowedOrigins?: readonly string[];
  /** Default: 4 MiB. */
  readonly bodyLimitBytes?: number;
  readonly timeouts?: Partial<Timeouts>;
  /** How many clients of the 2025 protocol may have a session. Default: 1000. */
  readonly maxSessions?: number;
  /** Default: 30 minutes. */
  readonly sessionIdleMs?: number;
  /** How long running calls may take to finish when the server stops. Default: all of their time. */
  readonly graceMs?: number;
  /** Further routes, behind the same gate. */
  readonly mount?: (app: Hono) => void;
  /** Routes for people, with a credential of their own: see `governanceApi`. */
  readonly api?: OperatorApi;
}

export interface HttpHandle {
  /** As one calls it on this machine, without a path: MCP is at `/mcp`. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

export interface HttpSurroundings {
  readonly make: () => McpServer;
  readonly deliveries: Deliveries;
  readonly log: HostLog;
  /** The most that any call may take. */
  readonly longestCallMs: number;
  readonly drain: (graceMs?: number) => Promise<void>;
  readonly health: AppOptions['health'];
  readonly metrics: AppOptions['metrics'];
}

const TIMEOUTS: Timeouts = { headersMs: 10_000, requestMs: 30_000, keepAliveMs: 5_000 };

export async function serveOnHttp(
  { make, deliveries, log, longestCallMs, drain, health, metrics }: HttpSurroundings,
  options: HttpOptions = {},
): Promise<HttpHandle> {
  const { host = DEFAULT_HTTP_HOST, port = DEFAULT_HTTP_PORT, token, metricsToken } = options;
  const { graceMs, bodyLimitBytes = 4 * 1024 * 1024 } = options;
  refuseOpenBind(host, token?.reveal(), metricsToken?.reveal());
  let isStopping = false;
  const mcp = createMcpRoute({
    make,
    deliveries,
    onError: (error) => log('debug', 'request_refused', { message: error.message }),
    bodyLimit: bodyLimitBytes,
    maxSessions: options.maxSessions ?? 1000,
    sessionIdleMs: options.sessionIdleMs ?? 30 * 60_000,
    longestCallMs,
  });
  const { allowedHosts, allowedOrigins, mount, api } = options;
  const gate = createGate({
    host,
    allowedHosts,
    allowedOrigins,
    token: token && (() => token.reveal()),
  });
  const app = createApp({
    gate,
    mcp,
    isStopping: () => isStopping,
    health,
    metrics,
    metricsToken: metricsToken && (() => metricsToken.reveal()),
    mount,
    api,
  });
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const { server, url } = await bind(app, { host, port, timeouts });
  log('info', 'listening', { url, host });
  return {
    url,
    close: async () => {
      if (isStopping) return;
      isStopping = true;
      // Answers that are ready still have to reach their clients, so connections end a moment later.
      const finished = drain(graceMs)
        .then(() => new Promise<void>((resolve) => setTimeout(resolve, 50)))
        .then(() => mcp.close());
      await unbind(server, finished);
      log('info', 'stopped', { url });
    },
  };
}

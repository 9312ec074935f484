import { createServer as createHttpServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { McpServer } from '@modelcontextprotocol/server';
import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono';
import type { Deliveries } from '../call/deliveries.js';
import { HostError } from '../errors.js';
import type { OperatorApi } from '../governance/operator-api.js';
import type { HostLog } from '../log/log.js';
import { createAccess, requireTokens } from './access.js';
import { createApp, type AppOptions } from './app.js';
import type { DirectCalls } from '../mcp/direct-calls.js';
import { createMcpRoute, type McpRoute } from './mcp-route.js';

const DEFAULT_HTTP_HOST = '127.0.0.1';
const DEFAULT_HTTP_PORT = 7411;
const DEFAULT_TIMEOUTS: Timeouts = { headersMs: 10_000, requestMs: 30_000, keepAliveMs: 5_000 };
/** Lets finished responses reach their clients before connections are closed. */
const FLUSH_MS = 50;

export interface Timeouts {
  /** Until a client has sent its headers. */
  readonly headersMs: number;
  /** Until a client has sent the whole request. Responses have no timeout. */
  readonly requestMs: number;
  /** Until an idle connection is closed. */
  readonly keepAliveMs: number;
}

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
  /** The operator API, which has its own token: `governance.api(token)`. */
  readonly api?: OperatorApi;
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
  const { host = DEFAULT_HTTP_HOST, port = DEFAULT_HTTP_PORT, token, metricsToken } = options;
  const { graceMs, bodyLimitBytes = 4 * 1024 * 1024, mount, api } = options;
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
    api,
  });
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const { server, url } = await bind(app, mcp.direct, { host, port, timeouts });
  log('info', 'listening', { url, host });
  return {
    url,
    close: async () => {
      if (isStopping) return;
      isStopping = true;
      const finished = drain(graceMs)
        .then(() => new Promise<void>((resolve) => setTimeout(resolve, FLUSH_MS)))
        .then(() => mcp.close());
      await unbind(server, finished);
      log('info', 'stopped', { url });
    },
  };
}

interface BindOptions {
  readonly host: string;
  readonly port: number;
  readonly timeouts: Timeouts;
}

async function bind(
  app: Hono,
  direct: McpRoute['direct'],
  options: BindOptions,
): Promise<{ server: Server; url: string }> {
  const { host, port, timeouts } = options;
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const settings = {
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: timeouts.keepAliveMs,
    // Node enforces the timeouts above at this interval.
    connectionsCheckingInterval: Math.min(1000, timeouts.headersMs),
    maxHeaderSize: 16 * 1024,
  };
  const server = createHttpServer(settings, (incoming, outgoing) => {
    direct(incoming, outgoing, () => void listener(incoming, outgoing));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      reject(new HostError(`cannot listen on ${host}:${port}: ${cause.message}`, { cause }));
    });
    server.listen(port, host, resolve);
  });
  const { address, family, port: bound } = server.address() as AddressInfo;
  const name = WILDCARDS[address] ?? address;
  return { server, url: `http://${family === 'IPv6' ? `[${name}]` : name}:${bound}` };
}

/** Wildcard addresses can be bound, but not connected to. */
const WILDCARDS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Refuses new connections and closes idle ones at once, all others when `finished` resolves. */
async function unbind(server: Server, finished: Promise<void>): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  server.closeIdleConnections();
  await finished;
  server.closeAllConnections();
  await closed;
}

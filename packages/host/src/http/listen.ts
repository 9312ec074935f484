import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HostError } from '../errors.js';

export const DEFAULT_HTTP_HOST = '127.0.0.1';
const DEFAULT_HTTP_PORT = 7411;
export const DEFAULT_BODY_LIMIT = 4 * 1024 * 1024;
/** Idle connections are kept for long: a request on one that is being closed fails, and may be a mutation. */
const DEFAULT_TIMEOUTS: Timeouts = { headersMs: 10_000, requestMs: 30_000, keepAliveMs: 65_000 };

export interface Timeouts {
  /** Until a client has sent its headers. */
  readonly headersMs: number;
  /** Until a client has sent the whole request. Responses have no timeout. */
  readonly requestMs: number;
  /** Until an idle connection is closed. */
  readonly keepAliveMs: number;
}

interface BindOptions {
  readonly host?: string;
  readonly port?: number;
  readonly timeouts?: Partial<Timeouts>;
}

/** Starts an HTTP server with bounded headers and times. */
export async function bind(
  options: BindOptions,
  listener: RequestListener,
): Promise<{ readonly server: Server; readonly url: string }> {
  const { host = DEFAULT_HTTP_HOST, port = DEFAULT_HTTP_PORT } = options;
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const settings = {
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: timeouts.keepAliveMs,
    // Node enforces the timeouts above at this interval.
    connectionsCheckingInterval: Math.min(1000, timeouts.headersMs),
    maxHeaderSize: 16 * 1024,
  };
  const server = createServer(settings, listener);
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
export async function unbind(server: Server, finished: Promise<unknown>): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  server.closeIdleConnections();
  await finished;
  // Queued responses are written first.
  await new Promise((resolve) => setImmediate(resolve));
  server.closeAllConnections();
  await closed;
}

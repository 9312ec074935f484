import type { AddressInfo } from 'node:net';
import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import type { Hono } from 'hono';
import { HostError } from '../errors.js';
import { isLoopback } from './loopback.js';

export interface Timeouts {
  /** Until a client has sent its headers. */
  readonly headersMs: number;
  /** Until it has sent the whole request. The answer may take as long as it takes. */
  readonly requestMs: number;
  /** An idle connection. */
  readonly keepAliveMs: number;
}

export interface BindOptions {
  readonly host: string;
  readonly port: number;
  readonly timeouts: Timeouts;
}

/** So many characters cannot be tried out. */
const MIN_TOKEN_LENGTH = 16;

/** Whoever can reach us could act for us, so beyond this machine there must be a token, and a good one. */
export function refuseOpenBind(
  host: string,
  token: string | undefined,
  metricsToken?: string,
): void {
  if (isLoopback(host)) return;
  const open = `http.host is ${host}, which others can reach: that needs a token (http.token)`;
  if (token === undefined) {
    throw new HostError(`${open}. Set TOOLKEEL_HTTP_TOKEN, or listen on 127.0.0.1.`);
  }
  const long = `of at least ${MIN_TOKEN_LENGTH} characters, such as \`openssl rand -hex 32\` gives.`;
  if (token.length < MIN_TOKEN_LENGTH) throw new HostError(`${open} ${long}`);
  if (metricsToken !== undefined && metricsToken.length < MIN_TOKEN_LENGTH)
    throw new HostError(
      `http.host is ${host}, which others can reach: http.metricsToken must be ${long}`,
    );
}

export async function bind(
  app: Hono,
  options: BindOptions,
): Promise<{ server: Server; url: string }> {
  const { host, port, timeouts } = options;
  const server = createAdaptorServer({
    fetch: app.fetch,
    overrideGlobalObjects: false,
    serverOptions: {
      headersTimeout: timeouts.headersMs,
      requestTimeout: timeouts.requestMs,
      keepAliveTimeout: timeouts.keepAliveMs,
      // Node looks for slow clients only so often.
      connectionsCheckingInterval: Math.min(1000, timeouts.headersMs),
      maxHeaderSize: 16 * 1024,
    },
  }) as Server;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      reject(new HostError(`cannot listen on ${host}:${port}: ${cause.message}`, { cause }));
    });
    server.listen(port, host, resolve);
  });
  const { address, family, port: bound } = server.address() as AddressInfo;
  const name = REACHABLE[address] ?? address;
  return { server, url: `http://${family === 'IPv6' ? `[${name}]` : name}:${bound}` };
}

/** Every address of this machine is where one can listen, and none that one can call. */
const REACHABLE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** No new connections; those that are idle end now, the others when `finished` says so. */
export async function unbind(server: Server, finished: Promise<void>): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  server.closeIdleConnections();
  await finished;
  server.closeAllConnections();
  await closed;
}

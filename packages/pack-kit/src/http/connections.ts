import type { Socket } from 'node:net';
import { FaultError } from '@toolkeel/kernel';
import type * as library from 'undici';
import type { Agent, buildConnector, Client, Dispatcher } from 'undici';
import {
  isPublicAddress,
  lookupWith,
  systemResolve,
  type IsAllowed,
  type Resolve,
} from './ssrf.js';

type Undici = typeof library;
type RequestOptions = Omit<Dispatcher.RequestOptions, 'origin' | 'path'>;

/** How host names are resolved and which addresses an untrusted URL may have. Tests replace both. */
export interface NetworkRules {
  readonly resolve?: Resolve | undefined;
  readonly isAllowed?: IsAllowed | undefined;
}

/** `configured`: any address. `public`: only addresses of the public internet, also after DNS resolution. */
export type Reach = 'configured' | 'public';

/** Reads use kept-alive connections; each write opens a new one. */
export type Connections = ReturnType<typeof createConnections>;

const MIN_SAFETY_TIMEOUT_MS = 120_000;

export function createConnections(connectTimeoutMs: number, rules: NetworkRules = {}) {
  const { resolve = systemResolve, isAllowed = isPublicAddress } = rules;
  // The kernel bounds every attempt, so undici's own timeouts are only a safety net.
  const safetyMs = Math.max(MIN_SAFETY_TIMEOUT_MS, 2 * connectTimeoutMs);
  const timeouts = { headersTimeout: safetyMs, bodyTimeout: safetyMs };
  const connect: Readonly<Record<Reach, buildConnector.BuildOptions>> = {
    configured: { timeout: connectTimeoutMs, lookup: lookupWith(resolve) },
    public: { timeout: connectTimeoutMs, lookup: lookupWith(resolve, isAllowed) },
  };
  const start = async () => {
    const undici = await import('undici');
    const agent = (reach: Reach): Agent =>
      new undici.Agent({ connections: 32, ...timeouts, connect: connect[reach] });
    return { undici, agents: { configured: agent('configured'), public: agent('public') } };
  };
  let loading: ReturnType<typeof start> | undefined;
  // Loaded on first use, because undici loads slowly.
  const load = () => (loading ??= start());
  return {
    isAllowed,
    async read(url: URL, options: RequestOptions, reach: Reach) {
      const { undici, agents } = await load();
      return undici.request(url, { ...options, dispatcher: agents[reach] });
    },
    async open(url: URL, signal: AbortSignal, reach: Reach) {
      const { undici } = await load();
      const socket = await openSocket(undici.buildConnector(connect[reach]), url, signal);
      return wrap(undici, url, socket, timeouts);
    },
    /** Also aborts in-flight requests: the caller has already waited for them. */
    async close() {
      const agents = (await loading?.catch(() => undefined))?.agents;
      await Promise.all([agents?.configured.destroy(), agents?.public.destroy()]);
    },
  };
}

/**
 * A write does not use an idle connection: if the upstream has closed it meanwhile, the outcome of the
 * write would be unknown. A failed connect proves that nothing was sent.
 */
function openSocket(
  connect: buildConnector.connector,
  url: URL,
  signal: AbortSignal,
): Promise<Socket> {
  const { host, protocol, port } = url;
  const hostname = url.hostname.replaceAll(/^\[|\]$/g, '');
  return new Promise((resolve, reject) => {
    const fail = (cause: unknown): void =>
      reject(new FaultError({ kind: 'connect', sent: 'no', cause }));
    const onAbort = (): void => fail(signal.reason);
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    connect({ hostname, host, protocol, port }, (error, socket) => {
      signal.removeEventListener('abort', onAbort);
      if (error) fail(error);
      else if (signal.aborted) socket.destroy();
      else resolve(socket);
    });
  });
}

/** A connection for one request. */
function wrap(undici: Undici, url: URL, socket: Socket, timeouts: Client.Options) {
  let isUsed = false;
  const client = new undici.Client(url.origin, {
    ...timeouts,
    connect: (_options, callback) => {
      // The socket was lost or already used; another one would be a second attempt.
      if (isUsed || socket.destroyed) return queueMicrotask(() => callback(lost(), null));
      isUsed = true;
      // Asynchronously, because undici does not expect a synchronous callback.
      queueMicrotask(() => callback(null, socket));
    },
  });
  return {
    request: (options: RequestOptions & { path: string }) =>
      client.request({ ...options, reset: true }),
    destroy: () => {
      void client.destroy().catch(() => undefined);
      socket.destroy();
    },
  };
}

function lost(): Error {
  return Object.assign(new Error('connection lost'), { code: 'UND_ERR_SOCKET' });
}

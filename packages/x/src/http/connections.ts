import type { Socket } from 'node:net';
import { FaultError } from '@toolkeel/kernel';
import type * as library from 'undici';
import type { Agent, buildConnector, Client, Dispatcher } from 'undici';

type Undici = typeof library;

/** An unused connection for one request. */
export interface FreshConnection {
  request(options: Omit<Dispatcher.RequestOptions, 'origin'>): Promise<Dispatcher.ResponseData>;
  destroy(): void;
}

/** Connections to X. Reads use kept-alive connections; each write opens a new one. */
export interface Connections {
  read(
    url: URL,
    options: Omit<Dispatcher.RequestOptions, 'origin' | 'path'>,
  ): Promise<Dispatcher.ResponseData>;
  open(url: URL, signal: AbortSignal): Promise<FreshConnection>;
  close(): Promise<void>;
}

/** The kernel bounds every attempt, so undici's own timeouts are only a safety net. */
const SAFETY_TIMEOUT_MS = 120_000;
const timeouts = { headersTimeout: SAFETY_TIMEOUT_MS, bodyTimeout: SAFETY_TIMEOUT_MS };

export function createConnections(connectTimeoutMs: number): Connections {
  let loading: Promise<{ undici: Undici; agent: Agent }> | undefined;
  // Loaded on first use, because undici loads slowly.
  const load = () => (loading ??= start(connectTimeoutMs));
  return {
    async read(url, options) {
      const { undici, agent } = await load();
      return undici.request(url, { ...options, dispatcher: agent });
    },
    async open(url, signal) {
      const { undici } = await load();
      const connect = undici.buildConnector({ timeout: connectTimeoutMs });
      return wrap(undici, url, await openSocket(connect, url, signal));
    },
    /** Also aborts in-flight requests: the caller has already waited for them. */
    async close() {
      const loaded = await loading?.catch(() => undefined);
      await loaded?.agent.destroy();
    },
  };
}

async function start(timeout: number) {
  const undici = await import('undici');
  const agent = new undici.Agent({ connections: 32, ...timeouts, connect: { timeout } });
  return { undici, agent };
}

/**
 * A write does not use an idle connection: if X has closed it meanwhile, the outcome of the write would be
 * unknown. A failed connect proves that nothing was sent.
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

function wrap(undici: Undici, url: URL, socket: Socket): FreshConnection {
  let isUsed = false;
  const client: Client = new undici.Client(url.origin, {
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
    request: (options) => client.request({ ...options, reset: true }),
    destroy: () => {
      void client.destroy().catch(() => undefined);
      socket.destroy();
    },
  };
}

function lost(): Error {
  return Object.assign(new Error('connection lost'), { code: 'UND_ERR_SOCKET' });
}

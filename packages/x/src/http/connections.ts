import type { Socket } from 'node:net';
import { FaultError } from '@toolkeel/kernel';
import type * as library from 'undici';
import type { Agent, buildConnector, Client, Dispatcher } from 'undici';

type Undici = typeof library;

/** A connection that nothing has been sent on yet, good for one request. */
export interface FreshConnection {
  request(options: Omit<Dispatcher.RequestOptions, 'origin'>): Promise<Dispatcher.ResponseData>;
  /** Ends it, whatever it is doing. */
  destroy(): void;
}

/** Connections to X. Those of reads are kept alive; a write gets a new one. */
export interface Connections {
  read(
    url: URL,
    options: Omit<Dispatcher.RequestOptions, 'origin' | 'path'>,
  ): Promise<Dispatcher.ResponseData>;
  open(url: URL, signal: AbortSignal): Promise<FreshConnection>;
  close(): Promise<void>;
}

/** The kernel's clocks bound every attempt, so undici's own are only a last resort. */
const LAST_RESORT_MS = 120_000;
const clocks = { headersTimeout: LAST_RESORT_MS, bodyTimeout: LAST_RESORT_MS };

export function createConnections(connectTimeoutMs: number): Connections {
  let loading: Promise<{ undici: Undici; agent: Agent }> | undefined;
  // When first asked for: undici takes a while to load.
  const load = () => (loading ??= start(connectTimeoutMs));
  return {
    async read(url, options) {
      const { undici, agent } = await load();
      return undici.request(url, { ...options, dispatcher: agent });
    },
    async open(url, signal) {
      const { undici } = await load();
      const connect = undici.buildConnector({ timeout: connectTimeoutMs });
      return wrap(undici, url, await connected(connect, url, signal));
    },
    /** Ends what is under way as well: whoever closes has waited for it already. */
    async close() {
      const loaded = await loading?.catch(() => undefined);
      await loaded?.agent.destroy();
    },
  };
}

async function start(timeout: number) {
  const undici = await import('undici');
  const agent = new undici.Agent({ connections: 32, ...clocks, connect: { timeout } });
  return { undici, agent };
}

/**
 * A write does not ride on a connection that was idle: X may have closed it in the meantime, and then
 * nobody could say whether the write was carried out. While we connect, surely nothing was sent.
 */
function connected(
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
  let given = false;
  const client: Client = new undici.Client(url.origin, {
    ...clocks,
    connect: (_options, callback) => {
      // It was lost before it was used, or X hung up: another one would be a second attempt.
      if (given || socket.destroyed) return queueMicrotask(() => callback(lost(), null));
      given = true;
      // Not at once: undici does not expect to be called back while it is still asking.
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
  return Object.assign(new Error('the connection was lost'), { code: 'UND_ERR_SOCKET' });
}

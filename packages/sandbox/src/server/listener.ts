import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { CONNECTION } from '../faults/kinds.js';
import { serveExchange, type ServerParts } from './exchange.js';

export type Listener = Awaited<ReturnType<typeof openListener>>;

interface ListenerOptions extends ServerParts {
  readonly host: string;
  readonly port: number;
}

const LOOPBACK = '127.0.0.1';

export async function openListener({ host, port, ...parts }: ListenerOptions) {
  const sockets = new Map<Socket, number>();
  let connections = 0;
  let origin = '';

  const server = createServer({ keepAliveTimeout: 75_000 }, (incoming, outgoing) => {
    void serve(incoming, outgoing);
  });
  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const connection = sockets.get(incoming.socket) ?? 0;
    try {
      await serveExchange(parts, { host, origin, connection }, incoming, outgoing);
    } catch {
      // A malformed request must not end the server.
      incoming.socket.destroy();
    }
  };

  server.on('connection', (socket) => {
    connections += 1;
    sockets.set(socket, connections);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => {}); // clients may reset their connections
    injectOnConnect(parts, host, connections, socket);
  });

  const listen = (at: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(at, LOOPBACK, () => {
        server.off('error', reject);
        resolve();
      });
    });
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets.keys()) socket.destroy();
    });
  await listen(port);
  const { port: own } = server.address() as AddressInfo;
  origin = `http://${LOOPBACK}:${own}`;

  return {
    origin,
    /** While unreachable, the port is closed: new connections are refused, open ones destroyed. */
    setReachable: async (reachable: boolean): Promise<void> => {
      if (reachable !== server.listening) await (reachable ? listen(own) : close());
    },
    /** Destroys all connections, also stalled and kept-alive ones. */
    close,
  };
}

/** Logs a connection only if it is reset: the log otherwise counts requests. */
function injectOnConnect(
  { injector, log }: ServerParts,
  host: string,
  connection: number,
  socket: Socket,
): void {
  const arrival = { route: CONNECTION, method: 'CONNECT', fingerprint: '' };
  const { fault, latencyMs } = injector.plan(arrival);
  if (!fault) return;
  const update = log.begin({
    ...arrival,
    at: Date.now(),
    host,
    connection,
    path: '',
    headers: [],
    fault: fault.kind,
    latencyMs,
    bytesIn: 0,
    bytesOut: 0,
  });
  update({ outcome: 'broken', tookMs: 0 });
  socket.resetAndDestroy();
}

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { CONNECTION } from '../faults/kinds.js';
import { exchange, type Parts } from './exchange.js';

export interface Front {
  /** For example http://127.0.0.1:53211 */
  readonly origin: string;
  /** While it is not reachable, connections are refused; those that there were are gone. */
  readonly setReachable: (reachable: boolean) => Promise<void>;
  /** Ends at once, whatever is stalled, dripping or kept alive. */
  readonly close: () => Promise<void>;
}

export interface FrontOptions extends Parts {
  readonly host: string;
  readonly port: number;
}

const LOOPBACK = '127.0.0.1';

/** An address on which an upstream can be reached, and on which it can be unreachable. */
export async function openFront({ host, port, ...parts }: FrontOptions): Promise<Front> {
  const sockets = new Map<Socket, number>();
  let connections = 0;
  let origin = '';

  const server = createServer({ keepAliveTimeout: 75_000 }, (incoming, outgoing) => {
    void serve(incoming, outgoing);
  });
  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const connection = sockets.get(incoming.socket) ?? 0;
    try {
      await exchange(parts, { host, origin, connection }, incoming, outgoing);
    } catch {
      // A request that cannot even be read as one; a sandbox must survive its clients.
      incoming.socket.destroy();
    }
  };

  server.on('connection', (socket) => {
    connections += 1;
    sockets.set(socket, connections);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => {}); // a client that resets is no news
    strikeConnection(parts, host, connections, socket);
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
    setReachable: async (reachable) => {
      if (reachable !== server.listening) await (reachable ? listen(own) : close());
    },
    close,
  };
}

/** Connections are logged only when they are struck: what is counted otherwise is requests. */
function strikeConnection(
  { chaos, log }: Parts,
  host: string,
  connection: number,
  socket: Socket,
): void {
  const arrival = { route: CONNECTION, method: 'CONNECT', fingerprint: '' };
  const { fault, latencyMs } = chaos.plan(arrival);
  if (!fault) return;
  const note = log.begin({
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
  note({ outcome: 'broken', tookMs: 0 });
  socket.resetAndDestroy();
}

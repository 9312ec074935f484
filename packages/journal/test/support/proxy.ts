import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** What to do with received bytes. `cut` closes the connection without forwarding them. */
type ProxyAction = 'pass' | 'cut' | 'swallow';

export interface Proxy {
  /** The URL of the server through the proxy. */
  readonly url: string;
  /** `connection` differs between the connections. */
  fromClient: (data: Buffer, connection: object) => ProxyAction;
  fromServer: (data: Buffer, connection: object) => ProxyAction;
  readonly close: () => void;
}

/** A proxy between a client and PostgreSQL that drops data on demand. */
export async function proxyTo(url: string): Promise<Proxy> {
  const target = new URL(url);
  const directory = target.searchParams.get('host');
  const port = Number(target.port || 5432);
  const sockets = new Set<Socket>();
  const upstream = (): Socket =>
    directory === null
      ? connect(port, target.hostname)
      : connect({ path: `${directory}/.s.PGSQL.${port}` });

  const server = createServer((client) => {
    const behind = upstream();
    const end = (): void => {
      client.destroy();
      behind.destroy();
    };
    for (const socket of [client, behind]) {
      sockets.add(socket);
      socket.on('error', end).on('close', end);
    }
    const relay = (action: ProxyAction, to: Socket, data: Buffer): void => {
      if (action === 'pass') to.write(data);
      else if (action === 'cut') end();
    };
    client.on('data', (data) => relay(proxy.fromClient(data, client), behind, data));
    behind.on('data', (data) => relay(proxy.fromServer(data, client), client, data));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  const through = new URL(url);
  through.searchParams.delete('host');
  through.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const proxy: Proxy = {
    url: through.href,
    fromClient: () => 'pass',
    fromServer: () => 'pass',
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  return proxy;
}

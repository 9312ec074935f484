import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** What to do with passing bytes. `cut` drops them and ends the connection. */
type Verdict = 'pass' | 'cut' | 'swallow';

export interface Proxy {
  /** The server's URL through the proxy. */
  readonly url: string;
  fromClient: (data: Buffer) => Verdict;
  fromServer: (data: Buffer) => Verdict;
  readonly close: () => void;
}

/** A proxy in front of a real PostgreSQL that loses bytes on demand. */
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
    const relay = (verdict: Verdict, to: Socket, data: Buffer): void => {
      if (verdict === 'pass') to.write(data);
      else if (verdict === 'cut') end();
    };
    client.on('data', (data) => relay(proxy.fromClient(data), behind, data));
    behind.on('data', (data) => relay(proxy.fromServer(data), client, data));
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

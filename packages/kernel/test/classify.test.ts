import { createServer } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import { classifyError } from '@toolkeel/kernel';
import { describe, expect, it } from 'vitest';

describe('classifyError on real errors of this Node.js', () => {
  const listening = async (server: Server): Promise<string> => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const thrownBy = (url: string, init?: RequestInit): Promise<unknown> =>
    fetch(url, init).then(
      (response) => response.text(),
      (error: unknown) => error,
    );

  it('a refused connection was not sent', async () => {
    const server = createServer();
    const url = await listening(server);
    await new Promise((resolve) => server.close(resolve));
    expect(classifyError(await thrownBy(url))).toMatchObject({ kind: 'connect', sent: 'no' });
  });

  it.each([
    ['a port that browsers block', 'http://127.0.0.1:1/'],
    ['a port that does not exist', 'http://127.0.0.1:99999/'],
    ['a URL that is none', 'not a url'],
    ['an unknown scheme', 'stac://127.0.0.1/'],
    ['a file', 'file:///etc/hostname'],
  ])('a request to %s was not sent, and is not retried', async (_, url) => {
    expect(classifyError(await thrownBy(url))).toMatchObject({ kind: 'unexpected', sent: 'no' });
  });

  it.each(['http://127.0.0.1:1/', 'http://'])(
    'a request that was redirected to %s may have been sent',
    async (location) => {
      const server = createServer((_, response) => response.writeHead(303, { location }).end());
      const error = await thrownBy(await listening(server), { method: 'POST', body: 'x' });
      expect(classifyError(error)).toMatchObject({ kind: 'unexpected', sent: 'maybe' });
      server.close();
    },
  );

  it('a connection that is lost after the request may have been sent', async () => {
    const server = createTcpServer((socket) => socket.once('data', () => socket.destroy()));
    const url = await listening(server);
    expect(classifyError(await thrownBy(url))).toMatchObject({ kind: 'network', sent: 'maybe' });
    server.close();
  });

  it('a timeout of the callee is a timeout', async () => {
    const server = createServer(() => {});
    const url = await listening(server);
    const error = await thrownBy(url, { signal: AbortSignal.timeout(20) });
    expect(classifyError(error)).toMatchObject({ kind: 'timeout', clock: 'callee' });
    server.closeAllConnections();
    server.close();
  });
});

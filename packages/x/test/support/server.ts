import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as it arrived. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly params: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  /** The number of its connection, from 1. */
  readonly connection: number;
}

export interface Reply {
  readonly status?: number;
  readonly json?: unknown;
  readonly text?: string | Buffer;
  readonly headers?: Record<string, string>;
  readonly act?: 'reset' | 'stall' | 'half';
  readonly afterMs?: number;
}

export type Answering = (seen: Seen, count: number) => Reply;

export interface TestServer {
  readonly origin: string;
  readonly seen: Seen[];
  close(): Promise<void>;
}

/** A scripted HTTP server on loopback that records its requests. */
export async function startServer(answering: Answering): Promise<TestServer> {
  const seen: Seen[] = [];
  const connections = new WeakMap<object, number>();
  let connected = 0;
  const server = createServer((request, response) => {
    void handle(request, response).catch(() => response.destroy());
  });
  server.on('connection', (socket) => connections.set(socket, ++connected));
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url ?? '/', 'http://x');
    const one: Seen = {
      method: request.method ?? '',
      path: url.pathname,
      params: url.searchParams,
      headers: request.headers,
      body: Buffer.concat(chunks),
      connection: connections.get(request.socket) ?? 0,
    };
    seen.push(one);
    const given = answering(one, seen.length);
    if (given.afterMs === undefined) reply(response, given);
    else setTimeout(() => reply(response, given), given.afterMs);
  };
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function reply(response: ServerResponse, { status = 200, json, text, headers, act }: Reply): void {
  if (act === 'stall') return;
  if (act === 'reset') {
    response.socket?.resetAndDestroy();
    return;
  }
  const body = text ?? (json === undefined ? '' : JSON.stringify(json));
  const type = { 'content-type': 'application/json' };
  if (act === 'half') {
    response.writeHead(status, { ...type, 'content-length': String(body.length) });
    response.write(body.slice(0, body.length / 2), () => response.socket?.resetAndDestroy());
    return;
  }
  response.writeHead(status, { ...type, ...headers });
  response.end(body);
}

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A received request. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly params: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
  /** The origin of the server, for links. */
  readonly origin: string;
}

export interface Reply {
  readonly status?: number;
  readonly json?: unknown;
  readonly text?: string;
  readonly headers?: Record<string, string>;
  readonly act?: 'reset' | 'stall' | 'half';
}

export type Handler = (request: ReceivedRequest, count: number) => Reply;

export interface TestServer {
  readonly origin: string;
  readonly requests: ReceivedRequest[];
  close(): Promise<void>;
}

/** A server on loopback that replies with a handler and records its requests. */
export async function startServer(handler: Handler, host = '127.0.0.1'): Promise<TestServer> {
  const requests: ReceivedRequest[] = [];
  const server = createServer((request, response) => {
    void handle(request, response).catch(() => response.destroy());
  });
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url ?? '/', origin());
    const text = Buffer.concat(chunks).toString();
    const received: ReceivedRequest = {
      method: request.method ?? '',
      path: url.pathname,
      params: url.searchParams,
      headers: request.headers,
      body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
      origin: origin(),
    };
    requests.push(received);
    reply(response, handler(received, requests.length));
  };
  const origin = (): string => `http://${host}:${(server.address() as AddressInfo).port}`;
  await new Promise<void>((resolve) => {
    server.listen(0, host, resolve);
  });
  return {
    origin: origin(),
    requests,
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

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A request as it arrived. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly params: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  /** The body, if it is a JSON object; else empty. */
  readonly json: Record<string, unknown>;
  /** The origin of the upstream, for links. */
  readonly origin: string;
  /** The number of its connection, from 1. */
  readonly connection: number;
  /** How many sends the journal had recorded when the first byte of this request arrived. */
  readonly sendsBefore: number;
}

export interface Reply {
  readonly status?: number;
  readonly json?: unknown;
  readonly text?: string | Buffer;
  readonly headers?: Record<string, string>;
  /** Resets the connection, never answers, or resets it in the middle of the body. */
  readonly act?: 'reset' | 'stall' | 'half';
  readonly afterMs?: number;
}

/** Answers a request; `count` is its number, from 1. */
export type Handler = (request: ReceivedRequest, count: number) => Reply;

export interface ScriptedUpstream {
  readonly origin: string;
  readonly requests: ReceivedRequest[];
  close(): Promise<void>;
}

export interface UpstreamOptions {
  readonly host?: string;
  /** The sends that the journal has recorded, such as `recordingJournal().sends`. */
  readonly sends?: readonly unknown[];
}

/** An upstream on a loopback socket that answers with a handler and records its requests. */
export async function startScriptedUpstream(
  handler: Handler,
  { host = '127.0.0.1', sends = [] }: UpstreamOptions = {},
): Promise<ScriptedUpstream> {
  const requests: ReceivedRequest[] = [];
  const connections = new WeakMap<object, number>();
  const firstByteAfter = new WeakMap<object, number>();
  let connected = 0;
  const server = createServer((request, response) => {
    void handle(request, response).catch(() => response.destroy());
  });
  server.on('connection', (socket: Socket) => {
    connections.set(socket, ++connected);
    // A later request on the same connection keeps the number of its own first byte.
    socket.prependListener('data', () => {
      if (!firstByteAfter.has(socket)) firstByteAfter.set(socket, sends.length);
    });
  });
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { socket } = request;
    const sendsBefore = firstByteAfter.get(socket) ?? sends.length;
    firstByteAfter.delete(socket);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const origin = originOf();
    const url = new URL(request.url ?? '/', origin);
    const body = Buffer.concat(chunks);
    const received: ReceivedRequest = {
      method: request.method ?? '',
      path: url.pathname,
      params: url.searchParams,
      headers: request.headers,
      body,
      json: objectIn(body),
      origin,
      connection: connections.get(socket) ?? 0,
      sendsBefore,
    };
    requests.push(received);
    const reply = handler(received, requests.length);
    if (reply.afterMs === undefined) answer(response, reply);
    else setTimeout(() => answer(response, reply), reply.afterMs);
  };
  const originOf = (): string => `http://${host}:${(server.address() as AddressInfo).port}`;
  await new Promise<void>((resolve) => {
    server.listen(0, host, resolve);
  });
  return {
    origin: originOf(),
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function objectIn(body: Buffer): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(body.toString());
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {};
  } catch {
    return {};
  }
}

function answer(response: ServerResponse, reply: Reply): void {
  const { status = 200, json, text, headers, act } = reply;
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

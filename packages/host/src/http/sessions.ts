import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import {
  isInitializeRequest,
  isJSONRPCNotification,
  WebStandardStreamableHTTPServerTransport,
  type McpServer,
} from '@modelcontextprotocol/server';
import { DirectCallsInFlight } from '../mcp/direct-calls.js';
import { onResponseEnd } from './response.js';

interface Session {
  readonly server: McpServer;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly direct: DirectCallsInFlight;
  lastUsed: number;
  lastRequest: number;
  /** Requests in flight. */
  requests: number;
  /** Open streams for messages that the server initiates. */
  streams: number;
}

export interface SessionOptions {
  readonly createServer: () => McpServer;
  readonly onError: (error: Error) => void;
  readonly maxSessions: number;
  readonly idleMs: number;
  /** A request that is in flight for longer was cancelled, or its response is not being read. */
  readonly longestCallMs: number;
  readonly bodyLimit: number;
  readonly now: () => number;
}

/**
 * Handles protocol 2025-11-25, which has sessions: a cancellation is a separate request, and the session
 * associates it with its call. A single request without a session is answered as well.
 */
export class Sessions {
  readonly #sessions = new Map<string, Session>();
  readonly #options: SessionOptions;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#sessions.size;
  }

  async handle(request: Request, parsedBody: unknown): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    if (id !== null) {
      const session = this.#sessions.get(id);
      return session ? this.#use(session, request, parsedBody) : notFound();
    }
    if (isInitializeRequest(parsedBody)) return this.#open(request, parsedBody);
    if (request.method !== 'POST') return methodNotAllowed();
    return this.#handleOnce(request, parsedBody);
  }

  /** The direct calls of a session, which is busy until the response ends; undefined if it is unknown. */
  useDirectly(id: string, outgoing: ServerResponse): DirectCallsInFlight | undefined {
    const session = this.#sessions.get(id);
    if (!session) return undefined;
    outgoing.once('close', this.#begin(session, 'requests'));
    return session.direct;
  }

  async closeAll(): Promise<void> {
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.all(sessions.map(close));
  }

  async #open(request: Request, parsedBody: unknown): Promise<Response> {
    if (!this.#evict()) return busy();
    const transport: WebStandardStreamableHTTPServerTransport =
      new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        maxRequestBodySize: this.#options.bodyLimit,
        onsessioninitialized: (id) => {
          this.#sessions.set(id, session);
        },
        onsessionclosed: (id) => {
          this.#sessions.delete(id);
          session.direct.close();
        },
      });
    const server = this.#options.createServer();
    const now = this.#options.now();
    const session: Session = {
      server,
      transport,
      direct: new DirectCallsInFlight(),
      lastUsed: now,
      lastRequest: now,
      requests: 0,
      streams: 0,
    };
    await server.connect(transport);
    return this.#use(session, request, parsedBody);
  }

  async #use(session: Session, request: Request, parsedBody: unknown): Promise<Response> {
    if (isCancellation(parsedBody) && session.direct.cancel(parsedBody.params)) {
      return new Response(null, { status: 202 });
    }
    const release = this.#begin(session, request.method === 'GET' ? 'streams' : 'requests');
    try {
      const response = await session.transport.handleRequest(request, bodyOf(parsedBody));
      return onResponseEnd(response, release);
    } catch (cause) {
      release();
      throw cause;
    }
  }

  /** Counts a request or stream of a session until the returned function is called. */
  #begin(session: Session, kind: 'requests' | 'streams'): () => void {
    const { now } = this.#options;
    session[kind]++;
    if (kind === 'requests') session.lastRequest = now();
    return () => {
      session[kind]--;
      session.lastUsed = now();
    };
  }

  /** Without a session the client cannot resume the response, so the server is closed with it. */
  async #handleOnce(request: Request, parsedBody: unknown): Promise<Response> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      maxRequestBodySize: this.#options.bodyLimit,
    });
    const server = this.#options.createServer();
    await server.connect(transport);
    return onResponseEnd(await transport.handleRequest(request, bodyOf(parsedBody)), () => {
      server.close().catch(this.#options.onError);
    });
  }

  /**
   * Closes idle sessions. If there are still too many, closes the least recently used one, preferably one
   * without open streams and never one with a request in flight. Returns false if all have one.
   */
  #evict(): boolean {
    const { now, idleMs, maxSessions } = this.#options;
    const candidates = [...this.#sessions]
      .filter(([, session]) => !this.#isBusy(session))
      .toSorted(([, a], [, b]) => rank(a) - rank(b) || a.lastUsed - b.lastUsed);
    for (const [id, session] of candidates) {
      const isIdle = session.streams === 0 && now() - session.lastUsed > idleMs;
      if (!isIdle && this.#sessions.size < maxSessions) break;
      this.#sessions.delete(id);
      close(session).catch(this.#options.onError);
    }
    return this.#sessions.size < maxSessions;
  }

  #isBusy({ requests, lastRequest }: Session): boolean {
    const { now, longestCallMs } = this.#options;
    return requests > 0 && now() - lastRequest <= longestCallMs;
  }
}

function close({ server, direct }: Session): Promise<void> {
  direct.close();
  return server.close();
}

function isCancellation(
  body: unknown,
): body is { readonly params?: Readonly<Record<string, unknown>> } {
  return isJSONRPCNotification(body) && body.method === 'notifications/cancelled';
}

function rank({ streams }: Session): number {
  return streams === 0 ? 0 : 1;
}

function bodyOf(parsedBody: unknown): { parsedBody?: unknown } {
  return parsedBody === undefined ? {} : { parsedBody };
}

function notFound(): Response {
  return failure(404, -32_001, 'Session not found');
}

function busy(): Response {
  const response = failure(503, -32_000, 'All sessions are busy. Try again in a moment.');
  response.headers.set('retry-after', '1');
  return response;
}

function methodNotAllowed(): Response {
  return failure(405, -32_000, 'Method not allowed.');
}

function failure(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status });
}

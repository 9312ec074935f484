import { randomUUID } from 'node:crypto';
import {
  isInitializeRequest,
  WebStandardStreamableHTTPServerTransport,
  type McpServer,
} from '@modelcontextprotocol/server';

interface Session {
  readonly server: McpServer;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  lastUsed: number;
  /** Requests that are being answered, streams included. */
  open: number;
}

export interface SessionOptions {
  readonly make: () => McpServer;
  readonly onError: (error: Error) => void;
  readonly maxSessions: number;
  readonly idleMs: number;
  readonly bodyLimit: number;
  readonly now: () => number;
}

/**
 * Clients of the 2025 protocol, which have sessions: a cancellation comes as a request of its own,
 * and only the session tells which call it means. A request without a session is answered as well,
 * for those who want one answer and no conversation.
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
      return session ? this.#use(session, request, parsedBody) : sessionGone();
    }
    if (isInitializeRequest(parsedBody)) return this.#open(request, parsedBody);
    if (request.method !== 'POST') return notAllowed();
    return this.#answerOnce(request, parsedBody);
  }

  async closeAll(): Promise<void> {
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.all(sessions.map(({ server }) => server.close()));
  }

  async #open(request: Request, parsedBody: unknown): Promise<Response> {
    this.#makeRoom();
    const transport: WebStandardStreamableHTTPServerTransport =
      new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        maxRequestBodySize: this.#options.bodyLimit,
        onsessioninitialized: (id) => {
          this.#sessions.set(id, session);
        },
        onsessionclosed: (id) => {
          this.#sessions.delete(id);
        },
      });
    const server = this.#options.make();
    const session: Session = { server, transport, lastUsed: this.#options.now(), open: 0 };
    await server.connect(transport);
    return this.#use(session, request, parsedBody);
  }

  async #use(session: Session, request: Request, parsedBody: unknown): Promise<Response> {
    const leave = (): void => {
      session.open--;
      session.lastUsed = this.#options.now();
    };
    session.open++;
    try {
      // A stream that a client listens on keeps its session, however quiet it is.
      if (request.method === 'GET') {
        session.open++;
        request.signal.addEventListener('abort', leave, { once: true });
      }
      return await session.transport.handleRequest(request, bodyOf(parsedBody));
    } finally {
      leave();
    }
  }

  async #answerOnce(request: Request, parsedBody: unknown): Promise<Response> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      maxRequestBodySize: this.#options.bodyLimit,
    });
    await this.#options.make().connect(transport);
    return transport.handleRequest(request, bodyOf(parsedBody));
  }

  /** Sessions that nobody used for long go first; when there are too many, the one unused longest. */
  #makeRoom(): void {
    const { now, idleMs, maxSessions } = this.#options;
    const oldestFirst = [...this.#sessions].toSorted(([, a], [, b]) => a.lastUsed - b.lastUsed);
    for (const [id, session] of oldestFirst) {
      const isStale = session.open === 0 && now() - session.lastUsed > idleMs;
      if (!isStale && this.#sessions.size < maxSessions) return;
      this.#sessions.delete(id);
      session.server.close().catch(this.#options.onError);
    }
  }
}

function bodyOf(parsedBody: unknown): { parsedBody?: unknown } {
  return parsedBody === undefined ? {} : { parsedBody };
}

function sessionGone(): Response {
  return failure(404, -32_001, 'Session not found');
}

function notAllowed(): Response {
  return failure(405, -32_000, 'Method not allowed.');
}

function failure(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status });
}

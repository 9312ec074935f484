import { randomUUID } from 'node:crypto';
import {
  isInitializeRequest,
  WebStandardStreamableHTTPServerTransport,
  type McpServer,
} from '@modelcontextprotocol/server';
import { whenOver } from './when-over.js';

interface Session {
  readonly server: McpServer;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  lastUsed: number;
  lastAsked: number;
  /** Requests whose answers are not sent yet. */
  answering: number;
  /** Streams on which the client listens for what we say by ourselves. */
  listening: number;
}

export interface SessionOptions {
  readonly make: () => McpServer;
  readonly onError: (error: Error) => void;
  readonly maxSessions: number;
  readonly idleMs: number;
  /** After that nobody is owed an answer: it was cancelled, or it is not being read. */
  readonly longestCallMs: number;
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
    if (!this.#makeRoom()) return full();
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
    const now = this.#options.now();
    const session: Session = {
      server,
      transport,
      lastUsed: now,
      lastAsked: now,
      answering: 0,
      listening: 0,
    };
    await server.connect(transport);
    return this.#use(session, request, parsedBody);
  }

  async #use(session: Session, request: Request, parsedBody: unknown): Promise<Response> {
    const what = request.method === 'GET' ? 'listening' : 'answering';
    const leave = (): void => {
      session[what]--;
      session.lastUsed = this.#options.now();
    };
    session[what]++;
    if (what === 'answering') session.lastAsked = this.#options.now();
    try {
      return whenOver(await session.transport.handleRequest(request, bodyOf(parsedBody)), leave);
    } catch (cause) {
      leave();
      throw cause;
    }
  }

  /** Nobody can come back to this answer, so it ends with those who wait for it, and so does the work. */
  async #answerOnce(request: Request, parsedBody: unknown): Promise<Response> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      maxRequestBodySize: this.#options.bodyLimit,
    });
    const server = this.#options.make();
    await server.connect(transport);
    return whenOver(await transport.handleRequest(request, bodyOf(parsedBody)), () => {
      server.close().catch(this.#options.onError);
    });
  }

  /**
   * Sessions that nobody used for long go. When there are still too many, the one unused longest goes,
   * rather one on which nobody listens, and never one that owes an answer: false where all of them do.
   */
  #makeRoom(): boolean {
    const { now, idleMs, maxSessions } = this.#options;
    const free = [...this.#sessions]
      .filter(([, session]) => !this.#owesAnswer(session))
      .toSorted(([, a], [, b]) => rank(a) - rank(b) || a.lastUsed - b.lastUsed);
    for (const [id, session] of free) {
      const isStale = session.listening === 0 && now() - session.lastUsed > idleMs;
      if (!isStale && this.#sessions.size < maxSessions) break;
      this.#sessions.delete(id);
      session.server.close().catch(this.#options.onError);
    }
    return this.#sessions.size < maxSessions;
  }

  #owesAnswer({ answering, lastAsked }: Session): boolean {
    const { now, longestCallMs } = this.#options;
    return answering > 0 && now() - lastAsked <= longestCallMs;
  }
}

function rank({ listening }: Session): number {
  return listening === 0 ? 0 : 1;
}

function bodyOf(parsedBody: unknown): { parsedBody?: unknown } {
  return parsedBody === undefined ? {} : { parsedBody };
}

function sessionGone(): Response {
  return failure(404, -32_001, 'Session not found');
}

function full(): Response {
  const response = failure(503, -32_000, 'All sessions are busy. Try again in a moment.');
  response.headers.set('retry-after', '1');
  return response;
}

function notAllowed(): Response {
  return failure(405, -32_000, 'Method not allowed.');
}

function failure(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status });
}

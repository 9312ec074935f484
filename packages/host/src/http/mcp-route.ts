import {
  createMcpHandler,
  isLegacyRequest,
  readRequestBody,
  type McpServer,
} from '@modelcontextprotocol/server';
import { Sessions } from './sessions.js';

export interface McpRouteOptions {
  readonly make: () => McpServer;
  readonly onError: (error: Error) => void;
  readonly bodyLimit: number;
  readonly maxSessions: number;
  readonly sessionIdleMs: number;
  readonly longestCallMs: number;
}

export interface McpRoute {
  readonly fetch: (request: Request) => Promise<Response>;
  readonly close: () => Promise<void>;
}

/** `/mcp` for both eras of the protocol. The body is read once, here. */
export function createMcpRoute(options: McpRouteOptions): McpRoute {
  const { make, onError, bodyLimit, maxSessions, sessionIdleMs, longestCallMs } = options;
  const modern = createMcpHandler(make, {
    legacy: 'reject',
    onerror: onError,
    maxRequestBodySize: bodyLimit,
  });
  const sessions = new Sessions({
    make,
    onError,
    maxSessions,
    idleMs: sessionIdleMs,
    longestCallMs,
    bodyLimit,
    now: () => performance.now(),
  });

  const fetch = async (request: Request): Promise<Response> => {
    if (request.method !== 'POST') return sessions.handle(request, undefined);
    if (Number(request.headers.get('content-length') ?? 0) > bodyLimit) return tooLarge(bodyLimit);
    const body = await readRequestBody(request, bodyLimit);
    if (body.tooLarge) return tooLarge(bodyLimit);
    const parsed = parse(body.text);
    if (parsed === undefined) return badJson();
    if (await isLegacyRequest(request, parsed)) return sessions.handle(request, parsed);
    return modern.fetch(request, { parsedBody: parsed });
  };
  return {
    fetch,
    close: async () => {
      await Promise.all([modern.close(), sessions.closeAll()]);
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function tooLarge(limit: number): Response {
  return failure(413, -32_000, `A request may have ${limit} bytes.`);
}

function badJson(): Response {
  return failure(400, -32_700, 'Parse error: Invalid JSON');
}

function failure(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status });
}

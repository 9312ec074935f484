import type { ServerResponse } from 'node:http';
import {
  createMcpHandler,
  isLegacyRequest,
  readRequestBody,
  type McpServer,
} from '@modelcontextprotocol/server';
import type { Deliveries } from '../call/deliveries.js';
import { confirmSends } from '../mcp/confirm-sends.js';
import { Sessions } from './sessions.js';
import { whenFinished } from './when-finished.js';

export interface McpRouteOptions {
  readonly make: () => McpServer;
  readonly deliveries: Deliveries;
  readonly onError: (error: Error) => void;
  readonly bodyLimit: number;
  readonly maxSessions: number;
  readonly sessionIdleMs: number;
  readonly longestCallMs: number;
}

export interface McpRoute {
  /** `outgoing` is what the response is written to. */
  readonly fetch: (request: Request, outgoing: ServerResponse | undefined) => Promise<Response>;
  readonly close: () => Promise<void>;
}

/** `/mcp` for both eras of the protocol. The body is read once, here. */
export function createMcpRoute(options: McpRouteOptions): McpRoute {
  const { deliveries, onError, bodyLimit, maxSessions, sessionIdleMs, longestCallMs } = options;
  const outgoingOf = new WeakMap<Request, ServerResponse>();
  const written = (request: Request | undefined): Promise<void> => {
    const outgoing = request && outgoingOf.get(request);
    return outgoing ? whenFinished(outgoing) : Promise.reject(new TypeError('no such request'));
  };
  const make = (): McpServer => confirmSends(options.make(), deliveries, written);
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

  const fetch: McpRoute['fetch'] = async (request, outgoing) => {
    if (request.method !== 'POST') return sessions.handle(request, undefined);
    if (outgoing) outgoingOf.set(request, outgoing);
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

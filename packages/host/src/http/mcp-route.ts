import type { ServerResponse } from 'node:http';
import {
  createMcpHandler,
  isLegacyRequest,
  readRequestBody,
  type McpServer,
} from '@modelcontextprotocol/server';
import { confirmSends, type Deliveries } from '../call/deliveries.js';
import { parseInbound } from '../mcp/inbound.js';
import { responseFinished } from './response.js';
import { Sessions } from './sessions.js';

export interface McpRouteOptions {
  readonly createServer: () => McpServer;
  readonly deliveries: Deliveries;
  readonly onError: (error: Error) => void;
  readonly bodyLimit: number;
  readonly maxSessions: number;
  readonly sessionIdleMs: number;
  readonly longestCallMs: number;
}

export interface McpRoute {
  /** `outgoing` is the Node response that the returned response is written to. */
  readonly fetch: (request: Request, outgoing: ServerResponse | undefined) => Promise<Response>;
  readonly close: () => Promise<void>;
}

/** Creates the handler of `/mcp` for both protocol revisions. It reads the body once for both. */
export function createMcpRoute(options: McpRouteOptions): McpRoute {
  const { deliveries, onError, bodyLimit, maxSessions, sessionIdleMs, longestCallMs } = options;
  const outgoingOf = new WeakMap<Request, ServerResponse>();
  const written = (request: Request | undefined): Promise<void> => {
    const outgoing = request && outgoingOf.get(request);
    return outgoing ? responseFinished(outgoing) : Promise.reject(new TypeError('unknown request'));
  };
  const createServer = (): McpServer => confirmSends(options.createServer(), deliveries, written);
  const modern = createMcpHandler(createServer, {
    legacy: 'reject',
    onerror: onError,
    maxRequestBodySize: bodyLimit,
  });
  const sessions = new Sessions({
    createServer,
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
    const inbound = parseInbound(body.text);
    if (!inbound.ok) {
      onError(new Error(inbound.refusal.error.message));
      return Response.json(inbound.refusal, { status: 400 });
    }
    const { value: parsedBody } = inbound;
    if (await isLegacyRequest(request, parsedBody)) return sessions.handle(request, parsedBody);
    return modern.fetch(request, { parsedBody });
  };
  return {
    fetch,
    close: async () => {
      await Promise.all([modern.close(), sessions.closeAll()]);
    },
  };
}

function tooLarge(limit: number): Response {
  const error = { code: -32_000, message: `The request exceeds ${limit} bytes.` };
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 413 });
}

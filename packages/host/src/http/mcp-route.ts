import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  createMcpHandler,
  isLegacyRequest,
  readRequestBody,
  type McpServer,
} from '@modelcontextprotocol/server';
import { confirmSends, type Deliveries } from '../call/deliveries.js';
import type { DirectCalls } from '../mcp/direct-calls.js';
import { parseInbound, type Inbound } from '../mcp/inbound.js';
import type { Access } from './access.js';
import { createDirectRoute } from './direct-route.js';
import { responseFinished } from './response.js';
import { Sessions } from './sessions.js';

export interface McpRouteOptions {
  readonly createServer: () => McpServer;
  readonly direct: DirectCalls;
  readonly access: Pick<Access, 'check'>;
  readonly isStopping: () => boolean;
  readonly deliveries: Deliveries;
  readonly onError: (error: Error) => void;
  readonly bodyLimit: number;
  readonly maxSessions: number;
  readonly sessionIdleMs: number;
  readonly longestCallMs: number;
}

export interface McpRoute {
  /** Answers a plain tool call, or calls `next` to have the request handled by `fetch`. */
  readonly direct: (incoming: IncomingMessage, outgoing: ServerResponse, next: () => void) => void;
  /** `outgoing` is the Node response that the returned response is written to. */
  readonly fetch: (request: Request, outgoing: ServerResponse | undefined) => Promise<Response>;
  readonly close: () => Promise<void>;
}

/** Creates the handler of `/mcp` for both protocol revisions. The body is read once. */
export function createMcpRoute(options: McpRouteOptions): McpRoute {
  const { deliveries, onError, bodyLimit, maxSessions, sessionIdleMs, longestCallMs } = options;
  const outgoingOf = new WeakMap<Request, ServerResponse>();
  const inboundOf = new WeakMap<ServerResponse, Inbound>();
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
    acceptWildcard(request.headers);
    const inbound =
      (outgoing && inboundOf.get(outgoing)) ?? (await readInbound(request, bodyLimit));
    if (!inbound) return tooLarge(bodyLimit);
    if (!inbound.ok) {
      onError(new Error(inbound.refusal.error.message));
      return Response.json(inbound.refusal, { status: 400 });
    }
    const { value: parsedBody } = inbound;
    if (await isLegacyRequest(request, parsedBody)) return sessions.handle(request, parsedBody);
    return modern.fetch(request, { parsedBody });
  };
  const handleDirectly = createDirectRoute({ ...options, sessions });
  return {
    direct: (incoming, outgoing, next) =>
      handleDirectly(incoming, outgoing, (inbound) => {
        if (inbound) inboundOf.set(outgoing, inbound);
        next();
      }),
    fetch,
    close: async () => {
      await Promise.all([modern.close(), sessions.closeAll()]);
    },
  };
}

/** The SDK compares types literally and refuses the default of curl, which accepts every type. */
function acceptWildcard(headers: Headers): void {
  if (headers.get('accept')?.includes('*/*')) {
    headers.set('accept', 'application/json, text/event-stream');
  }
}

/** Undefined if the body is too large. */
async function readInbound(request: Request, limit: number): Promise<Inbound | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > limit) return undefined;
  const body = await readRequestBody(request, limit);
  return body.tooLarge ? undefined : parseInbound(body.text);
}

function tooLarge(limit: number): Response {
  const error = { code: -32_000, message: `The request exceeds ${limit} bytes.` };
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 413 });
}

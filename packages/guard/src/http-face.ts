import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpOptions } from '@toolkeel/host';
import {
  acceptsResponses,
  accessHeaders,
  bind,
  consoleListener,
  createAccess,
  DEFAULT_BODY_LIMIT,
  DEFAULT_HTTP_HOST,
  hasJsonBody,
  headerOf,
  parseInbound,
  readBody,
  requireTokens,
  unbind,
  type Console,
} from '@toolkeel/host/parts';
import { objectIn, oneLine, type Frame, type Message } from './frame.js';
import { refuse } from './http.js';
import { isLegacyVersion, LegacyRoute } from './legacy-route.js';
import { ModernRoute } from './modern-route.js';
import type { Route } from './route.js';
import type { Client } from './session-options.js';
import type { GuardedTool } from './tools.js';

interface HttpFaceOptions {
  readonly http: HttpOptions;
  readonly open: (client: Client) => Route;
  readonly tool: (name: string) => GuardedTool | undefined;
  readonly metrics: () => Promise<{ readonly type: string; readonly text: string }>;
  readonly onError: (cause: unknown) => void;
  /** How long upstreams may take to say which revision they speak, beyond what one may. */
  readonly startWaitMs: number;
  /** Serves all paths that are not those of MCP, health and metrics. */
  readonly console?: Console | undefined;
}

export interface HttpFace {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** Each session has a child of its own. */
const DEFAULT_SESSIONS = 100;
const DEFAULT_IDLE_MS = 30 * 60_000;
const PROBE_MS = 2000;
const OWN_PATHS: ReadonlySet<string> = new Set(['/mcp', '/healthz', '/metrics']);

/** Serves MCP over Streamable HTTP, in all revisions. */
export async function serveHttp(options: HttpFaceOptions): Promise<HttpFace> {
  const { http, open, tool, metrics, onError, console } = options;
  const { host = DEFAULT_HTTP_HOST, bodyLimitBytes = DEFAULT_BODY_LIMIT } = http;
  const { token, allowedHosts, allowedOrigins, maxSessions, sessionIdleMs } = http;
  requireTokens(host, token?.reveal());
  const access = createAccess({
    host,
    allowedHosts,
    allowedOrigins,
    token: token && (() => token.reveal()),
  });
  const serveConsole = console && consoleListener(console, access);
  const legacy = new LegacyRoute({
    open,
    maxSessions: maxSessions ?? DEFAULT_SESSIONS,
    idleMs: sessionIdleMs ?? DEFAULT_IDLE_MS,
  });
  const modern = new ModernRoute({ open, tool, probeMs: PROBE_MS + options.startWaitMs });

  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [path = ''] = (incoming.url ?? '').split('?');
    if (serveConsole && !OWN_PATHS.has(path)) return serveConsole(incoming, response);
    const refusal = access.check(accessHeaders(incoming));
    if (refusal) {
      if (refusal.status === 401) response.setHeader('www-authenticate', 'Bearer');
      return refuse(response, refusal.status, -32_000, refusal.message);
    }
    if (path === '/healthz') return void response.writeHead(200).end('{"alive":true}');
    if (path === '/metrics') {
      const { type, text } = await metrics();
      return void response.writeHead(200, { 'content-type': type }).end(text);
    }
    if (path !== '/mcp') return void response.writeHead(404).end();
    if (incoming.method === 'GET' || incoming.method === 'DELETE') {
      return legacy.handle(incoming, response, undefined);
    }
    if (incoming.method !== 'POST') {
      response.setHeader('allow', 'GET, POST, DELETE');
      return refuse(response, 405, -32_000, 'Method not allowed');
    }
    if (!acceptsResponses(incoming)) {
      const message = 'Not Acceptable: accept application/json and text/event-stream';
      return refuse(response, 406, -32_000, message);
    }
    if (!hasJsonBody(incoming)) {
      return refuse(response, 415, -32_000, 'Unsupported Media Type: send application/json');
    }
    readBody(incoming, bodyLimitBytes, (body) => {
      handleBody(incoming, response, body).catch(failing(response));
    });
  };

  const handleBody = async (
    incoming: IncomingMessage,
    response: ServerResponse,
    body: string | undefined,
  ): Promise<void> => {
    if (body === undefined) {
      response.setHeader('connection', 'close');
      return refuse(response, 413, -32_000, 'The request is too large');
    }
    const inbound = parseInbound(body, { isLenient: true });
    if (!inbound.ok) {
      const { refusal: error } = inbound;
      return refuse(response, 400, error.error.code, error.error.message, error.id);
    }
    if (Array.isArray(inbound.value)) {
      return refuse(response, 400, -32_600, 'Invalid Request: batches are not supported');
    }
    const message = inbound.value as Message;
    // On stdio a frame is one line.
    const line = oneLine(body);
    const frame: Frame = { message, line };
    return isModern(incoming, message)
      ? modern.handle(incoming, response, frame)
      : legacy.handle(incoming, response, frame);
  };

  const failing = (response: ServerResponse) => {
    return (cause: unknown): void => {
      onError(cause);
      if (!response.headersSent) refuse(response, 500, -32_603, 'Internal error');
      else response.destroy();
    };
  };

  const { server, url } = await bind(http, (incoming, response) => {
    response.on('error', () => {});
    handle(incoming, response).catch(failing(response));
  });
  console?.listening(url);
  return {
    url,
    close: () => {
      console?.close();
      return unbind(server, Promise.all([legacy.close(), modern.close()]));
    },
  };
}

/** The revision is a property of each request. */
function isModern(incoming: IncomingMessage, { method, params }: Message): boolean {
  const meta = objectIn(params, '_meta');
  const names = ['protocolVersion', 'clientCapabilities'].map(
    (name) => `io.modelcontextprotocol/${name}`,
  );
  if (names.some((name) => meta[name] !== undefined) || method === 'server/discover') return true;
  const version = headerOf(incoming, 'mcp-protocol-version');
  const hasSession = headerOf(incoming, 'mcp-session-id') !== undefined;
  return version !== undefined && !isLegacyVersion(version) && !hasSession;
}

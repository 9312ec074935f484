import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HttpOptions } from '@toolkeel/host';
import { createAccess, parseInbound, requireTokens } from '@toolkeel/host/parts';
import { objectIn, type Frame, type Message } from './frame.js';
import { headerOf, refuse } from './http.js';
import { isLegacyVersion, LegacyRoute } from './legacy-route.js';
import { ModernRoute } from './modern-route.js';
import type { Client, Session } from './session.js';
import type { GuardedTool } from './tools.js';

interface HttpFaceOptions {
  readonly http: HttpOptions;
  readonly open: (client: Client) => Session;
  readonly tool: (name: string) => GuardedTool | undefined;
  readonly metrics: () => Promise<{ readonly type: string; readonly text: string }>;
  readonly onError: (cause: unknown) => void;
}

export interface HttpFace {
  readonly url: string;
  readonly close: () => Promise<void>;
}

const DEFAULT_HOST = '127.0.0.1';
const DEFAULT_PORT = 7411;
const DEFAULT_BODY_LIMIT = 4 * 1024 * 1024;
/** Each session has a child of its own. */
const DEFAULT_SESSIONS = 100;
const DEFAULT_IDLE_MS = 30 * 60_000;
const PROBE_MS = 2000;

/** Serves MCP over Streamable HTTP, in all revisions. */
export async function serveHttp(options: HttpFaceOptions): Promise<HttpFace> {
  const { http, open, tool, metrics, onError } = options;
  const { host = DEFAULT_HOST, port = DEFAULT_PORT, bodyLimitBytes = DEFAULT_BODY_LIMIT } = http;
  const { token, allowedHosts, allowedOrigins, maxSessions, sessionIdleMs } = http;
  requireTokens(host, token?.reveal());
  const access = createAccess({
    host,
    allowedHosts,
    allowedOrigins,
    token: token && (() => token.reveal()),
  });
  const legacy = new LegacyRoute({
    open,
    maxSessions: maxSessions ?? DEFAULT_SESSIONS,
    idleMs: sessionIdleMs ?? DEFAULT_IDLE_MS,
  });
  const modern = new ModernRoute({ open, tool, probeMs: PROBE_MS });

  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const refusal = access.check({ get: (name) => headerOf(incoming, name) ?? null });
    if (refusal) {
      if (refusal.status === 401) response.setHeader('www-authenticate', 'Bearer');
      return refuse(response, refusal.status, -32_000, refusal.message);
    }
    const [path] = (incoming.url ?? '').split('?');
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
    const accept = headerOf(incoming, 'accept') ?? '';
    const accepts = (type: string): boolean => accept.includes(type) || accept.includes('*/*');
    if (!accepts('application/json') || !accepts('text/event-stream')) {
      const message = 'Not Acceptable: accept application/json and text/event-stream';
      return refuse(response, 406, -32_000, message);
    }
    if (!/^application\/json\b/i.test(headerOf(incoming, 'content-type') ?? '')) {
      return refuse(response, 415, -32_000, 'Unsupported Media Type: send application/json');
    }
    const body = await readBody(incoming, bodyLimitBytes);
    if (body === undefined) {
      response.setHeader('connection', 'close');
      return refuse(response, 413, -32_000, 'The request is too large');
    }
    const inbound = parseInbound(body);
    if (!inbound.ok) {
      const { refusal: error } = inbound;
      return refuse(response, 400, error.error.code, error.error.message, error.id);
    }
    if (Array.isArray(inbound.value)) {
      return refuse(response, 400, -32_600, 'Invalid Request: batches are not supported');
    }
    const message = inbound.value as Message;
    // On stdio a frame is one line.
    const line = body.includes('\n') ? JSON.stringify(message) : body;
    const frame: Frame = { message, line };
    return isModern(incoming, message)
      ? modern.handle(incoming, response, frame)
      : legacy.handle(incoming, response, frame);
  };

  const server = createServer((incoming, response) => {
    response.on('error', () => {});
    handle(incoming, response).catch((cause: unknown) => {
      onError(cause);
      if (!response.headersSent) refuse(response, 500, -32_603, 'Internal error');
      else response.destroy();
    });
  });
  server.headersTimeout = 10_000;
  server.requestTimeout = 30_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const { port: actual } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${actual}`,
    close: async () => {
      await Promise.all([legacy.close(), modern.close()]);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
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

/** Undefined if the body exceeds the limit. */
async function readBody(incoming: IncomingMessage, limit: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

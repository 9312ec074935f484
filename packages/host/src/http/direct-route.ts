import type { IncomingMessage, ServerResponse } from 'node:http';
import { SUPPORTED_PROTOCOL_VERSIONS, type JSONRPCResponse } from '@modelcontextprotocol/server';
import type { Deliveries } from '../call/deliveries.js';
import {
  DirectCallsInFlight,
  MODERN_REVISION,
  type DirectCall,
  type DirectCalls,
  type Era,
} from '../mcp/direct-calls.js';
import { parseInbound, type Inbound } from '../mcp/inbound.js';
import type { Access } from './access.js';
import {
  acceptsResponses,
  accessHeaders,
  hasJsonBody,
  headerOf,
  readBody,
} from './node-request.js';
import { responseFinished } from './response.js';
import type { Sessions } from './sessions.js';
import { WriteQueue } from './write-queue.js';

interface DirectRouteOptions {
  readonly direct: DirectCalls;
  readonly deliveries: Deliveries;
  readonly access: Pick<Access, 'check'>;
  readonly sessions: Pick<Sessions, 'useDirectly'>;
  readonly bodyLimit: number;
  readonly isStopping: () => boolean;
}

/** Handles a request on Node's own objects, or passes it on with its parsed body. */
export type DirectRoute = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (inbound?: Inbound) => void,
) => void;

/**
 * Answers plain `tools/call` requests to `/mcp` as JSON. Everything else, also what has to be refused, is
 * passed on: web requests, streams and the SDK's server per request take most of the time of a quick call.
 */
export function createDirectRoute(options: DirectRouteOptions): DirectRoute {
  const { direct, deliveries, access, sessions, bodyLimit, isStopping } = options;
  const writes = new WriteQueue();

  const respondOn = (outgoing: ServerResponse) => {
    return (response: JSONRPCResponse | undefined): void => {
      // A cancelled call has no response: the stream that could have contained it ends.
      if (!response) return void outgoing.writeHead(200, EVENT_STREAM).end();
      const write = deliveries.begin(response);
      const onWrite =
        write && (() => void responseFinished(outgoing).then(write.confirm, write.fail));
      const body = JSON.stringify(response);
      // With its length, headers and body are written at once.
      const length = Buffer.byteLength(body);
      outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': length });
      writes.add({ outgoing, body, onWrite });
    };
  };

  const run = (call: DirectCall, incoming: IncomingMessage, outgoing: ServerResponse): boolean => {
    const id = call.era === 'legacy' ? headerOf(incoming, 'mcp-session-id') : undefined;
    if (id !== undefined) {
      const session = sessions.useDirectly(id, outgoing);
      if (session) outgoing.setHeader('mcp-session-id', id);
      session?.run(direct, call, respondOn(outgoing));
      return session !== undefined;
    }
    const inFlight = new DirectCallsInFlight();
    inFlight.run(direct, call, respondOn(outgoing));
    // Without a session, a client that has disconnected can never read the result.
    if (inFlight.size > 0) outgoing.once('close', () => inFlight.close());
    return true;
  };

  return (incoming, outgoing, next) => {
    const era = eraOf(incoming, bodyLimit);
    if (era === undefined || isStopping() || access.check(accessHeaders(incoming))) return next();
    readBody(incoming, bodyLimit, (text = '') => {
      const inbound = parseInbound(text);
      const call = inbound.ok ? direct.accept(inbound.value, era) : undefined;
      const isConsistent = call && (era === 'legacy' || namesTool(incoming, call));
      if (!isConsistent || !run(call, incoming, outgoing)) next(inbound);
    });
  };
}

const EVENT_STREAM = { 'content-type': 'text/event-stream' };

/** The protocol revision of a request that may be a plain tool call; undefined for any other request. */
function eraOf(incoming: IncomingMessage, bodyLimit: number): Era | undefined {
  const { method, url } = incoming;
  if (method !== 'POST' || url !== '/mcp') return undefined;
  // The body is read completely before the call, so its size must be known.
  if (!(Number(headerOf(incoming, 'content-length')) <= bodyLimit)) return undefined;
  if (!hasJsonBody(incoming) || !acceptsResponses(incoming)) return undefined;
  const version = headerOf(incoming, 'mcp-protocol-version');
  if (version === MODERN_REVISION) return 'modern';
  return version === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(version)
    ? 'legacy'
    : undefined;
}

/** Revision 2026-07-28 requires that these headers repeat the body. */
function namesTool(incoming: IncomingMessage, { params: { name } }: DirectCall): boolean {
  return (
    headerOf(incoming, 'mcp-method') === 'tools/call' && headerOf(incoming, 'mcp-name') === name
  );
}

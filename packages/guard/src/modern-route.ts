import type { IncomingMessage, ServerResponse } from 'node:http';
import { headerOf } from '@toolkeel/host/parts';
import {
  frameOf,
  isRequest,
  isResponse,
  objectIn,
  type Frame,
  type Id,
  type Message,
  type RequestFrame,
  type ResponseFrame,
} from './frame.js';
import { headerText, LAG_MS, refuse } from './http.js';
import type { Route } from './route.js';
import type { Client } from './session-options.js';
import { SseStream } from './sse.js';
import type { GuardedTool } from './tools.js';

interface ModernOptions {
  readonly open: (client: Client) => Route;
  readonly tool: (name: string) => GuardedTool | undefined;
  /** How long the upstream may take to say whether it speaks this revision. */
  readonly probeMs: number;
}

const META = 'io.modelcontextprotocol/';
const VERSION_KEY = `${META}protocolVersion`;
const CAPABILITIES_KEY = `${META}clientCapabilities`;
const SUBSCRIPTION_KEY = `${META}subscriptionId`;
const LOG_LEVEL_KEY = `${META}logLevel`;
const MODERN_VERSION = '2026-07-28';
/** How long a response may take before its stream is opened: until then it can have another status. */
const OPEN_AFTER_MS = 2000;

const STATUS: Readonly<Record<number, number>> = Object.freeze({
  [-32_601]: 404,
  [-32_020]: 400,
  [-32_021]: 400,
  [-32_022]: 400,
  [-32_600]: 400,
  [-32_700]: 400,
});

/** A request of a client, under an id of its own on the shared connection. */
interface Shared {
  readonly clientId: Id;
  readonly progressToken: Id | undefined;
  readonly wantsLog: boolean;
  readonly stream: SseStream;
}

/**
 * Serves revision 2026-07-28, which has no sessions: all clients share one upstream. Ids and progress
 * tokens are replaced, because those of two clients may be equal.
 */
export class ModernRoute {
  readonly #options: ModernOptions;
  readonly #shared = new Map<Id, Shared>();
  readonly #waiting = new Map<Id, (message: Message | undefined) => void>();
  #session: Route | undefined;
  #versions: Promise<readonly string[] | undefined> | undefined;
  #sequence = 0;

  constructor(options: ModernOptions) {
    this.#options = options;
  }

  async handle(incoming: IncomingMessage, response: ServerResponse, frame: Frame): Promise<void> {
    // A notification would name a request by an id that is unknown to the upstream.
    if (!isRequest(frame)) return void response.writeHead(202).end();
    const { id, method } = frame.message;
    const problem = this.#problemOf(incoming, frame);
    if (problem) return refuse(response, 400, problem.code, problem.message, id, problem.data);
    this.#versions ??= this.#discover();
    const versions = await this.#versions;
    if (!versions) {
      this.#versions = undefined;
      const message = 'The upstream does not support this protocol revision.';
      return refuse(response, method === 'server/discover' ? 404 : 400, -32_601, message, id);
    }
    const requested = objectIn(frame.message.params, '_meta')[VERSION_KEY];
    if (!versions.includes(requested as string)) {
      const data = { supported: versions, requested };
      return refuse(response, 400, -32_022, 'Unsupported protocol version', id, data);
    }
    const late = this.#problemOf(incoming, frame, true);
    if (late) return refuse(response, 400, late.code, late.message, id, late.data);
    if (response.destroyed) return;
    this.#forward(frame, response);
  }

  #forward(frame: RequestFrame, response: ServerResponse): void {
    const { id, params = {} } = frame.message;
    const meta = objectIn(params, '_meta');
    const token = meta['progressToken'];
    const wireId = `h${++this.#sequence}`;
    const stream = new SseStream(wireId, false);
    const shared: Shared = {
      clientId: id,
      progressToken: typeof token === 'string' || typeof token === 'number' ? token : undefined,
      wantsLog: meta[LOG_LEVEL_KEY] !== undefined,
      stream,
    };
    this.#shared.set(wireId, shared);
    stream.attach(response);
    const timer = setTimeout(() => stream.open(), OPEN_AFTER_MS).unref();
    response.on('close', () => {
      clearTimeout(timer);
      // Closing the connection is the cancellation of this revision.
      if (!this.#shared.delete(wireId)) return;
      this.#receive({ method: 'notifications/cancelled', params: { requestId: wireId } });
    });
    const rewritten =
      shared.progressToken === undefined
        ? params
        : { ...params, _meta: { ...meta, progressToken: wireId } };
    this.#receive({ ...frame.message, id: wireId, params: rewritten }, frame);
  }

  #receive(message: Omit<Message, 'jsonrpc'>, origin?: Frame): void {
    this.#upstream().receive(frameOf({ ...message, jsonrpc: '2.0' }, origin));
  }

  #upstream(): Route {
    this.#session ??= this.#options.open({
      send: (frame, written) => this.#send(frame, written),
      pause: () => {},
      resume: () => {},
      lagMs: LAG_MS,
    });
    return this.#session;
  }

  /** The revisions that the upstream supports; undefined if it does not know this request. */
  async #discover(): Promise<readonly string[] | undefined> {
    const id = `h${++this.#sequence}`;
    const _meta = { [VERSION_KEY]: MODERN_VERSION, [CAPABILITIES_KEY]: {} };
    const answered = await new Promise<Message | undefined>((resolve) => {
      const timer = setTimeout(() => settle(undefined), this.#options.probeMs);
      const settle = (message: Message | undefined): void => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        resolve(message);
      };
      this.#waiting.set(id, settle);
      this.#receive({ id, method: 'server/discover', params: { _meta } });
    });
    const versions = answered?.result?.['supportedVersions'];
    if (Array.isArray(versions)) return versions as string[];
    // A server of an earlier revision may be unusable after this request.
    const session = this.#session;
    this.#session = undefined;
    await session?.close();
    return undefined;
  }

  #send(frame: Frame, written?: (isDelivered: boolean) => void): void {
    const { message } = frame;
    if (isResponse(frame)) return this.#respond(frame, written);
    if (isRequest(frame)) {
      // This revision has no requests of the server.
      const error = { code: -32_601, message: 'Method not found' };
      return this.#receive({ id: frame.message.id, error });
    }
    const { params = {} } = message;
    const meta = objectIn(params, '_meta');
    const subscription = this.#shared.get(meta[SUBSCRIPTION_KEY] as Id);
    if (subscription) {
      const _meta = { ...meta, [SUBSCRIPTION_KEY]: subscription.clientId };
      return subscription.stream.send(frameOf({ ...message, params: { ...params, _meta } }, frame));
    }
    if (message.method === 'notifications/progress') {
      const reporting = this.#shared.get(params['progressToken'] as Id);
      const progressToken = reporting?.progressToken;
      return reporting?.stream.send(
        frameOf({ ...message, params: { ...params, progressToken } }, frame),
      );
    }
    // A log message does not say which request it belongs to, and must not reach other clients.
    const logging = [...this.#shared.values()].filter(({ wantsLog }) => wantsLog);
    if (message.method === 'notifications/message' && logging.length === 1) {
      logging[0]?.stream.send(frame);
    }
  }

  #respond(answered: ResponseFrame, written?: (isDelivered: boolean) => void): void {
    const { message } = answered;
    const own = this.#waiting.get(message.id);
    if (own) return own(message);
    const shared = this.#shared.get(message.id);
    if (!shared) return written?.(false);
    this.#shared.delete(message.id);
    const { clientId, stream } = shared;
    const { result, error } = message;
    const meta = objectIn(result, '_meta');
    const restored =
      meta[SUBSCRIPTION_KEY] === undefined
        ? result
        : { ...result, _meta: { ...meta, [SUBSCRIPTION_KEY]: clientId } };
    const frame = frameOf(
      { ...message, id: clientId, ...(restored && { result: restored }) },
      answered,
    );
    stream.end(frame, STATUS[error?.code ?? 0] ?? 200, written);
  }

  /** What is wrong with a request; `withTools` checks what needs the tools of the upstream. */
  #problemOf(
    incoming: IncomingMessage,
    { message: { method, params = {} } }: RequestFrame,
    withTools = false,
  ): Problem | undefined {
    if (withTools) return this.#parameterProblem(incoming, method, params);
    const meta = objectIn(params, '_meta');
    const version = meta[VERSION_KEY];
    if (typeof version !== 'string' || typeof meta[CAPABILITIES_KEY] !== 'object') {
      const message = `Invalid params: _meta needs ${VERSION_KEY} and ${CAPABILITIES_KEY}`;
      return { code: -32_602, message };
    }
    const header = headerOf(incoming, 'mcp-protocol-version');
    if (header !== version) return mismatch('MCP-Protocol-Version');
    if (headerOf(incoming, 'mcp-method') !== method) return mismatch('Mcp-Method');
    const member = NAMED[method];
    if (member === undefined) return undefined;
    return decodeHeader(headerOf(incoming, 'mcp-name')) === params[member]
      ? undefined
      : mismatch('Mcp-Name');
  }

  /** Servers can declare arguments that clients have to repeat as headers. */
  #parameterProblem(
    incoming: IncomingMessage,
    method: string,
    params: Readonly<Record<string, unknown>>,
  ): Problem | undefined {
    if (method !== 'tools/call') return undefined;
    const schema = this.#options.tool(String(params['name']))?.listed.inputSchema;
    const args = objectIn(params, 'arguments');
    for (const [name, property] of Object.entries(objectIn(schema, 'properties'))) {
      const header = objectIn({ property }, 'property')['x-mcp-header'];
      if (typeof header !== 'string') continue;
      const given = decodeHeader(headerOf(incoming, `mcp-param-${header.toLowerCase()}`));
      const value = args[name];
      const expected = value === undefined || value === null ? undefined : headerText(value);
      if (given !== expected) return mismatch(`Mcp-Param-${header}`);
    }
    return undefined;
  }

  async close(): Promise<void> {
    for (const { stream } of this.#shared.values()) stream.close();
    await this.#session?.close();
  }
}

interface Problem {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

const NAMED: Readonly<Record<string, string>> = Object.freeze({
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
});

function mismatch(header: string): Problem {
  return { code: -32_020, message: `Header mismatch: ${header} does not match the body` };
}

/** Values that are invalid in a header are encoded as `=?base64?…?=`. */
function decodeHeader(value: string | undefined): string | undefined {
  const trimmed = value?.trim();
  const [, encoded] = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(trimmed ?? '') ?? [];
  return encoded === undefined ? trimmed : Buffer.from(encoded, 'base64').toString('utf8');
}

import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  SERVER_INFO_META_KEY,
  type CallToolRequest,
  type CallToolResult,
  type Implementation,
  type JSONRPCMessage,
  type JSONRPCResponse,
  type RequestId,
} from '@modelcontextprotocol/server';
import type { Callable } from '../call/callable.js';
import type { ToolTable } from '../catalog/tools.js';
import type { ToolCalls } from './tools.js';

/** Revision 2025-11-25 and earlier, or 2026-07-28. */
export type Era = 'legacy' | 'modern';

export const MODERN_REVISION = '2026-07-28';

type Params = CallToolRequest['params'];
type Members = Readonly<Record<string, unknown>>;

/** A `tools/call` request that needs nothing from the SDK. */
export interface DirectCall {
  readonly id: RequestId;
  readonly tool: Callable;
  readonly params: Params;
  readonly era: Era;
}

interface DirectCallsOptions {
  readonly info: Implementation;
  readonly table: Pick<ToolTable, 'entry'>;
  readonly calls: Pick<ToolCalls, 'run'>;
  readonly onUnexpected: (cause: unknown) => void;
}

/**
 * Executes plain `tools/call` requests without the SDK's protocol layer, which takes most of the time of
 * a quick call. It accepts only requests that the SDK would pass to the tool unchanged; requests with a
 * progress token, a log level, input responses or unknown members, and everything that has to be refused,
 * are left to the SDK.
 */
export class DirectCalls {
  readonly #options: DirectCallsOptions;

  constructor(options: DirectCallsOptions) {
    this.#options = options;
  }

  /** Undefined if the SDK has to handle the message. */
  accept(message: unknown, era: Era): DirectCall | undefined {
    if (!isObject(message) || message['method'] !== 'tools/call') return undefined;
    const { id, params } = message;
    if ((typeof id !== 'string' && typeof id !== 'number') || !isObject(params)) return undefined;
    for (const member in params) if (!PARAMS.has(member)) return undefined;
    const { name, arguments: args, _meta: meta } = params;
    const tool = typeof name === 'string' ? this.#options.table.entry(name) : undefined;
    if (!tool || (args !== undefined && !isObject(args))) return undefined;
    if (era === 'modern') {
      const own = isObject(meta) ? withoutClaim(meta) : undefined;
      return own && { id, tool, params: { ...params, _meta: own } as Params, era };
    }
    const isPlain = !isObject(meta) || isPlainMeta(meta);
    return isPlain ? { id, tool, params: params as Params, era } : undefined;
  }

  /** Runs an accepted call. Synchronous if the tool is; never rejects. */
  run(
    { id, tool, params, era }: DirectCall,
    signal: AbortSignal,
  ): JSONRPCResponse | Promise<JSONRPCResponse> {
    const respond = (result: CallToolResult): JSONRPCResponse => ({
      result: era === 'modern' ? this.#encodeModern(result) : result,
      jsonrpc: '2.0',
      id,
    });
    const fail = (cause: unknown): JSONRPCResponse => {
      this.#options.onUnexpected(cause);
      return { jsonrpc: '2.0', id, error: { code: -32_603, message: 'Internal error' } };
    };
    try {
      const request = { mcpReq: { method: 'tools/call', _meta: params._meta, signal } };
      const result = this.#options.calls.run(tool, params, request);
      return result instanceof Promise ? result.then(respond, fail) : respond(result);
    } catch (cause) {
      return fail(cause);
    }
  }

  #encodeModern(result: CallToolResult): CallToolResult {
    const meta = { ...result._meta, [SERVER_INFO_META_KEY]: this.#options.info };
    return { ...result, resultType: 'complete', _meta: meta };
  }
}

/** The members of `params` that reach a tool. `idempotencyKey` is the proposal SEP-3182. */
const PARAMS: ReadonlySet<string> = new Set(['name', 'arguments', '_meta', 'idempotencyKey']);

/** Deprecated in the protocol, but the SDK still applies it. */
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';

/** The claim of revision 2026-07-28, which is checked here and not passed to tools. */
const CLAIM: ReadonlySet<string> = new Set([
  PROTOCOL_VERSION_META_KEY,
  CLIENT_INFO_META_KEY,
  CLIENT_CAPABILITIES_META_KEY,
]);

function isPlainMeta(meta: Members): boolean {
  for (const key in meta) {
    if (key === 'progressToken' || key === LOG_LEVEL || CLAIM.has(key)) return false;
  }
  return true;
}

/** The `_meta` for the tool; undefined if the claim is incomplete or the SDK has to read it. */
function withoutClaim(meta: Members): Members | undefined {
  const info = meta[CLIENT_INFO_META_KEY];
  const isValid =
    meta[PROTOCOL_VERSION_META_KEY] === MODERN_REVISION &&
    isObject(meta[CLIENT_CAPABILITIES_META_KEY]) &&
    (info === undefined || isImplementation(info));
  if (!isValid) return undefined;
  const own: Record<string, unknown> = {};
  for (const key in meta) if (!CLAIM.has(key)) own[key] = meta[key];
  return isPlainMeta(own) ? own : undefined;
}

function isImplementation(info: unknown): boolean {
  return isObject(info) && typeof info['name'] === 'string' && typeof info['version'] === 'string';
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type Respond = (response: JSONRPCResponse | undefined) => void;

/** The direct calls in flight of a connection or a session: a client can cancel them. */
export class DirectCallsInFlight {
  readonly #controllers = new Map<RequestId, AbortController>();

  get size(): number {
    return this.#controllers.size;
  }

  /** Calls back with the response; without one if the call was cancelled or the connection closed. */
  run(calls: DirectCalls, call: DirectCall, respond: Respond): void {
    const controller = new AbortController();
    const { signal } = controller;
    this.#controllers.set(call.id, controller);
    const finish = (response: JSONRPCResponse): void => {
      if (this.#controllers.get(call.id) === controller) this.#controllers.delete(call.id);
      respond(signal.aborted ? undefined : response);
    };
    const response = calls.run(call, signal);
    if (response instanceof Promise) void response.then(finish);
    else finish(response);
  }

  /** Handles the `params` of `notifications/cancelled`. Returns false for any other request. */
  cancel({ requestId, reason }: Members = {}): boolean {
    const controller = this.#controllers.get(requestId as RequestId);
    controller?.abort(reason);
    return controller !== undefined;
  }

  close(): void {
    const controllers = [...this.#controllers.values()];
    this.#controllers.clear();
    for (const each of controllers) each.abort(new Error('the connection was closed'));
  }
}

/**
 * The direct calls of a connection whose messages the SDK handles otherwise. The SDK decides the protocol
 * revision of the connection, so calls before that are left to it.
 */
export class DirectConnection {
  readonly #calls: DirectCalls;
  readonly #respond: Respond;
  readonly #inFlight = new DirectCallsInFlight();
  #era: Era | undefined;
  #initializeId: RequestId | undefined;

  constructor(calls: DirectCalls, respond: Respond) {
    this.#calls = calls;
    this.#respond = respond;
  }

  /** Returns true if the message needs no further handling. */
  receive(message: JSONRPCMessage): boolean {
    if (!('method' in message)) return false;
    const { method } = message;
    if (method === 'notifications/cancelled') return this.#inFlight.cancel(message.params);
    if (!('id' in message)) return false;
    if (this.#era === undefined) {
      // `server/discover` is only a probe: the client may still continue with the other revision.
      if (method === 'initialize') this.#initializeId = message.id;
      else if (method !== 'server/discover' && claimsModern(message.params)) this.#era = 'modern';
      return false;
    }
    const call = this.#calls.accept(message, this.#era);
    if (call) this.#inFlight.run(this.#calls, call, this.#respond);
    return call !== undefined;
  }

  /** Call for every message that the SDK sends: an answered `initialize` decides the revision. */
  sent(message: JSONRPCMessage): void {
    if (this.#initializeId === undefined || !('result' in message)) return;
    if (message.id !== this.#initializeId) return;
    this.#initializeId = undefined;
    this.#era ??= 'legacy';
  }

  close(): void {
    this.#inFlight.close();
  }
}

function claimsModern(params: unknown): boolean {
  const meta = isObject(params) ? params['_meta'] : undefined;
  return isObject(meta) && meta[PROTOCOL_VERSION_META_KEY] === MODERN_REVISION;
}

import { LEGACY_VERSION, refused, type Ends, type Translator } from './bridge-parts.js';
import { isObject, isRequest, objectIn, type Frame, type Id, type Message } from './frame.js';
import { isLegacyVersion } from './legacy-route.js';

type Members = Readonly<Record<string, unknown>>;

const SERVER_INFO_KEY = 'io.modelcontextprotocol/serverInfo';
const LOG_LEVEL_KEY = 'io.modelcontextprotocol/logLevel';

/** What a client of an earlier revision can use of a server of 2026-07-28. */
const CAPABILITIES = ['tools', 'resources', 'prompts', 'completions', 'logging'] as const;

/** Requests that have no counterpart. */
const REFUSED: ReadonlySet<string> = new Set(['resources/subscribe', 'resources/unsubscribe']);

/** Notifications of a client that mean nothing to a server without sessions. */
const DROPPED: ReadonlySet<string> = new Set([
  'notifications/initialized',
  'notifications/roots/list_changed',
  'notifications/progress',
]);

/** A client of 2025-11-25 or earlier in front of a server of 2026-07-28. */
export class ModernServer implements Translator {
  readonly #ends: Ends;
  readonly #meta: Members;
  /** Requests that are sent as another one, which only has to be answered. */
  readonly #pings = new Set<Id>();
  #logLevel: unknown;

  constructor(ends: Ends, meta: Members) {
    this.#ends = ends;
    this.#meta = meta;
  }

  /** The result of the client's handshake, from what the server has said about itself. */
  static initializeResult(params: Members | undefined, discovered: Members): Members {
    const requested = params?.['protocolVersion'];
    const known = typeof requested === 'string' && isLegacyVersion(requested);
    const capabilities = objectIn(discovered, 'capabilities');
    const { instructions } = discovered;
    const info = objectIn(discovered, '_meta')[SERVER_INFO_KEY] ?? discovered['serverInfo'];
    return {
      protocolVersion: known ? requested : LEGACY_VERSION,
      // Without changes and subscriptions, which servers of this revision send to subscribers only.
      capabilities: Object.fromEntries(
        CAPABILITIES.filter((name) => capabilities[name] !== undefined).map((name) => [name, {}]),
      ),
      serverInfo: info ?? { name: 'unknown', version: '0' },
      ...(instructions !== undefined && { instructions }),
    };
  }

  toUpstream(frame: Frame, isMutation: boolean): void {
    const { message } = frame;
    const { method, params } = message;
    if (!isRequest(frame)) {
      // Requests of the server were refused, so there is nothing to answer.
      if (method !== undefined && !DROPPED.has(method)) this.#ends.up(message, false, frame);
      return;
    }
    const { id } = frame.message;
    if (REFUSED.has(frame.message.method)) {
      return this.#down(refused(id, `${method} is not available in revision 2026-07-28`));
    }
    if (method === 'logging/setLevel') {
      this.#logLevel = params?.['level'];
      return this.#down({ jsonrpc: '2.0', id, result: {} });
    }
    if (method === 'ping') {
      this.#pings.add(id);
      const _meta = this.#meta;
      return this.#ends.up({ jsonrpc: '2.0', id, method: 'server/discover', params: { _meta } });
    }
    const meta = {
      ...objectIn(params, '_meta'),
      ...this.#meta,
      ...(this.#logLevel !== undefined && { [LOG_LEVEL_KEY]: this.#logLevel }),
    };
    this.#ends.up({ ...message, params: { ...params, _meta: meta } }, isMutation, frame);
  }

  fromUpstream(frame: Frame): void {
    const { message } = frame;
    const { id } = message;
    // Not part of this revision.
    if (isRequest(frame)) {
      return this.#ends.answer(refused(frame.message.id, 'The client has no capabilities'));
    }
    if (message.method !== undefined || id === undefined || id === null) {
      return this.#ends.down(message, frame);
    }
    if (this.#pings.delete(id)) return this.#ends.down({ jsonrpc: '2.0', id, result: {} });
    const { result } = message;
    if (!result) return this.#ends.down(message, frame);
    if (result['resultType'] === 'input_required') {
      const text = 'The server asks for input, which a client of this revision cannot give';
      return this.#ends.down(refused(id, text, INPUT_REQUIRED));
    }
    this.#ends.down({ ...message, result: legacyResult(result) }, frame);
  }

  /** Not within the call of `send`: its caller expects no answer yet. */
  #down(message: Message): void {
    queueMicrotask(() => this.#ends.down(message));
  }
}

/** The client lacks a capability that the request needs. */
const INPUT_REQUIRED = -32_021;

/** Earlier revisions know only objects as structured content. */
function legacyResult({ resultType: _type, ...result }: Members): Members {
  const { tools, structuredContent } = result;
  const isObjectContent = structuredContent === undefined || isObject(structuredContent);
  const { structuredContent: _other, ...plain } = result;
  const kept = isObjectContent ? result : plain;
  return Array.isArray(tools) ? { ...kept, tools: tools.map(legacyTool) } : kept;
}

function legacyTool(tool: unknown): unknown {
  if (!isObject(tool) || tool['outputSchema'] === undefined) return tool;
  const { outputSchema, ...rest } = tool;
  return objectIn({ outputSchema }, 'outputSchema')['type'] === 'object' ? tool : rest;
}

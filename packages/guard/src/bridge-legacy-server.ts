import { MODERN_VERSION, refused, type Ends, type Translator } from './bridge-parts.js';
import { isRequest, objectIn, type Frame, type Id, type Message } from './frame.js';

type Members = Readonly<Record<string, unknown>>;

const PREFIX = 'io.modelcontextprotocol/';
const SERVER_INFO_KEY = `${PREFIX}serverInfo`;
/** Members of `_meta` that a server of an earlier revision does not know. */
const OWN_KEYS: ReadonlySet<string> = new Set(
  ['protocolVersion', 'clientInfo', 'clientCapabilities', 'logLevel'].map(
    (name) => `${PREFIX}${name}`,
  ),
);

const CAPABILITIES = ['tools', 'resources', 'prompts', 'completions'] as const;

/** Results that say how long they may be cached. */
const CACHEABLE: ReadonlySet<string> = new Set([
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
]);

const UNCACHED = Object.freeze({ ttlMs: 0, cacheScope: 'private' });

/** Notifications that clients get without a subscription; of the others the guard needs one itself. */
const PASSED: ReadonlySet<string> = new Set([
  'notifications/progress',
  'notifications/cancelled',
  'notifications/tools/list_changed',
]);

/** A client of 2026-07-28 in front of a server of 2025-11-25 or earlier, whose session the bridge holds. */
export class LegacyServer implements Translator {
  readonly #ends: Ends;
  readonly #initialized: Members;
  /** The methods of requests whose results need more than `resultType`. */
  readonly #methods = new Map<Id, string>();

  constructor(ends: Ends, initialized: Members) {
    this.#ends = ends;
    this.#initialized = initialized;
  }

  toUpstream(frame: Frame, isMutation: boolean): void {
    const { message } = frame;
    if (!isRequest(frame)) return this.#ends.up(message, false, frame);
    const { id, method, params } = frame.message;
    if (method === 'subscriptions/listen') {
      const refusal = refused(id, 'Subscriptions are not available through the bridge');
      return queueMicrotask(() => this.#ends.down(refusal));
    }
    if (method === 'server/discover') {
      this.#methods.set(id, method);
      // The server is asked as well: this request also shows whether it responds.
      return this.#ends.up({ jsonrpc: '2.0', id, method: 'ping' });
    }
    if (CACHEABLE.has(method)) this.#methods.set(id, method);
    const { _meta: _given, ...rest } = params ?? {};
    const meta = Object.entries(objectIn(params, '_meta')).filter(([key]) => !OWN_KEYS.has(key));
    const own = meta.length > 0 ? { ...rest, _meta: Object.fromEntries(meta) } : rest;
    this.#ends.up({ ...message, params: own }, isMutation, frame);
  }

  fromUpstream(frame: Frame): void {
    const { message } = frame;
    const { id, method, result } = message;
    if (isRequest(frame)) return this.#ends.answer(answerTo(frame.message));
    const isPassed = method === undefined || PASSED.has(method);
    if (!isPassed) return;
    if (method !== undefined || id === undefined || id === null) {
      return this.#ends.down(message, frame);
    }
    const asked = this.#methods.get(id);
    this.#methods.delete(id);
    if (asked === 'server/discover') {
      return this.#ends.down({ jsonrpc: '2.0', id, result: this.#discovered() });
    }
    if (!result) return this.#ends.down(message, frame);
    const cache = asked === undefined ? {} : UNCACHED;
    const complete = { ...cache, ...result, resultType: 'complete' };
    this.#ends.down({ ...message, result: complete }, frame);
  }

  #discovered(): Members {
    const { instructions, serverInfo } = this.#initialized;
    const capabilities = objectIn(this.#initialized, 'capabilities');
    return {
      resultType: 'complete',
      ...UNCACHED,
      supportedVersions: [MODERN_VERSION],
      capabilities: Object.fromEntries(
        CAPABILITIES.filter((name) => capabilities[name] !== undefined).map((name) => [name, {}]),
      ),
      ...(instructions !== undefined && { instructions }),
      _meta: { [SERVER_INFO_KEY]: serverInfo },
    };
  }
}

/** The bridge has declared no capabilities, so a server may only ask whether it responds. */
function answerTo({ id, method }: Message & { readonly id: Id }): Message {
  if (method === 'ping') return { jsonrpc: '2.0', id, result: {} };
  return refused(id, `${method} is not available through the bridge`);
}

import type { Envelope } from '@toolkeel/contract';
import type { JSONRPCMessage, McpServer } from '@modelcontextprotocol/server';

/** Called once, when a result has reached the client. */
export type OnDelivered = () => void;

/** A result that a transport is writing. Only the first call of `confirm` or `fail` has an effect. */
interface Write {
  /** The HTTP request that the result belongs to. */
  readonly request: Request | undefined;
  readonly confirm: () => void;
  readonly fail: () => void;
}

interface Pending {
  readonly callbacks: readonly OnDelivered[];
  readonly request: Request | undefined;
}

/**
 * Associates results with the transports that write them. A result is identified by the `meta` object of
 * its envelope: the SDK copies results, but keeps the identity of values inside structured content.
 * Results that are never sent, such as those of cancelled requests, are garbage-collected.
 */
export class Deliveries {
  readonly #pending = new WeakMap<object, Pending>();
  readonly #onError: (cause: unknown) => void;
  #writes = 0;
  #waiters: (() => void)[] = [];

  /** `onError` receives what callbacks throw. */
  constructor(onError: (cause: unknown) => void) {
    this.#onError = onError;
  }

  /** Registers the callbacks of a result that is about to be sent. */
  expect(
    { meta }: Pick<Envelope, 'meta'>,
    callbacks: readonly OnDelivered[],
    request: Request | undefined,
  ): void {
    this.#pending.set(meta, { callbacks, request });
  }

  /** Starts tracking a message that a transport writes; undefined if it has no callbacks. */
  readonly begin = (message: JSONRPCMessage): Write | undefined => {
    const meta = metaOf(message);
    const pending = meta && this.#pending.get(meta);
    if (!meta || !pending) return undefined;
    this.#pending.delete(meta);
    this.#writes++;
    let isSettled = false;
    const settle = (callbacks: readonly OnDelivered[]): void => {
      if (isSettled) return;
      isSettled = true;
      callbacks.forEach(this.#call);
      if (--this.#writes === 0) for (const resume of this.#waiters.splice(0)) resume();
    };
    return {
      request: pending.request,
      confirm: () => settle(pending.callbacks),
      fail: () => settle([]),
    };
  };

  /** Resolves when all writes are confirmed or have failed, or after `limitMs`. */
  async settled(limitMs: number): Promise<void> {
    // Only microtasks separate the end of a call from its transport.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#writes === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, limitMs);
      this.#waiters.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  readonly #call = (callback: OnDelivered): void => {
    try {
      callback();
    } catch (cause) {
      this.#onError(cause);
    }
  };
}

/** The `meta` of the envelope in a response; undefined for any other message. */
function metaOf(message: JSONRPCMessage): object | undefined {
  if (!('result' in message)) return undefined;
  const { structuredContent } = message.result;
  if (typeof structuredContent !== 'object' || structuredContent === null) return undefined;
  const { meta } = structuredContent as { readonly meta?: unknown };
  return typeof meta === 'object' && meta !== null ? meta : undefined;
}

/**
 * Confirms the results that a server sends once its transport has accepted them and `written` resolves.
 * `written` receives the HTTP request of the result. Returns the same server.
 */
export function confirmSends(
  server: McpServer,
  { begin }: Pick<Deliveries, 'begin'>,
  written: (request: Request | undefined) => Promise<void>,
): McpServer {
  const connect = server.connect.bind(server);
  server.connect = (transport) => {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
      const sent = send(message, options);
      const write = begin(message);
      if (write) sent.then(() => written(write.request)).then(write.confirm, write.fail);
      return sent;
    };
    return connect(transport);
  };
  return server;
}

import type { Fault } from '@toolkeel/kernel';
import { textOf } from './answers.js';
import type { Exchange } from './attempts.js';
import {
  frameOf,
  isRequest,
  isResponse,
  isSafeMethod,
  objectIn,
  type Frame,
  type Id,
  type Message,
  type RequestFrame,
  type ResponseFrame,
} from './frame.js';
import { Handshake } from './handshake.js';
import { watchHealth, type HealthWatch } from './health.js';
import { ambiguousRoute } from './json-text.js';
import { SessionEnded, type Link } from './link.js';
import { Listing, TOOLS_CHANGED, toolsIn } from './listing.js';
import { ownIds, OwnRequests } from './own-requests.js';
import { PendingRequests } from './pending.js';
import { Restarts } from './restarts.js';
import { SessionCalls } from './session-calls.js';
import type { SessionOptions } from './session-options.js';

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const SUBSCRIPTION_KEY = 'io.modelcontextprotocol/subscriptionId';
const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';
/** How long a server may take to show that it still responds. */
const PROBE_MS = 5000;
const MAX_OUTBOX = 1000;
/** Outside of the range that JSON-RPC and MCP reserve. */
const UNAVAILABLE_CODE = 503;

/**
 * Routes the frames of one client to an upstream and back. Frames are passed on as they came; only tool
 * calls are taken out and run through the guard.
 */
export class Session {
  readonly #options: SessionOptions;
  readonly #restarts: Restarts;
  readonly #pending: PendingRequests;
  readonly #calls: SessionCalls;
  readonly #own = new OwnRequests();
  readonly #upstreamRequests = new Set<Id>();
  readonly #handshake = new Handshake();
  #capabilities: Readonly<Record<string, unknown>> | undefined;
  /** The `_meta` of requests of the revision 2026-07-28; undefined for earlier ones. */
  #modernMeta: Readonly<Record<string, unknown>> | undefined;
  readonly #listing = new Listing({
    ask: (method, params) => this.#ask(method, params, this.#options.startTimeoutMs),
    hasTools: async () => {
      // A client may send its first calls together with its handshake.
      const { initialize, isDecided, decided } = this.#handshake;
      // A handshake that failed is repeated for the calls that follow.
      if (isDecided && !this.#modernMeta && !this.#capabilities) this.#restarts.start();
      if (initialize) await decided;
      return this.#modernMeta !== undefined || this.#capabilities?.['tools'] !== undefined;
    },
    onTools: (tools) => this.#options.calls.replace(tools),
    // Clients of 2026-07-28 have to subscribe to it.
    onChanged: () => void (this.#modernMeta ?? this.#options.client.send(TOOLS_CHANGED)),
  });
  /** Notifications of the client that arrived before the upstream was ready. */
  #outbox: Frame[] = [];
  readonly #health: HealthWatch;
  readonly #nextId = ownIds((id) => this.#isAwaited(id) || this.#calls.isSent(id));
  #onClosed = (): void => {};
  /** Resolves when the upstream of this session has ended. */
  readonly closed = new Promise<void>((resolve) => {
    this.#onClosed = resolve;
  });

  constructor(options: SessionOptions) {
    this.#options = options;
    const { name, connect, log, client } = options;
    const onExpired = (frame: RequestFrame, reason: string) => this.#expired(frame, reason);
    const onSilent = (): void => void this.#probe();
    this.#pending = new PendingRequests({ ...options, onExpired, onSilent });
    this.#restarts = new Restarts({
      name,
      connect,
      log,
      onFrame: (frame) => this.#fromUpstream(frame),
      onFailed: (id, fault) => this.#fail(id, fault),
      onBlocked: (isBlocked) => (isBlocked ? client.pause() : client.resume()),
      onLost: (reason) => this.#lost(reason),
      prepare: (link) => this.#repeatHandshake(link),
      onReady: (isRestart) => this.#ready(isRestart),
      onUnavailable: (reason) => this.#unavailable(reason),
    });
    this.#calls = new SessionCalls({
      ...options,
      restarts: this.#restarts,
      listing: this.#listing,
      nextId: this.#nextId,
      meta: () => this.#modernMeta,
      onAbandoned: (id, isTimeout, isMutation) => this.#abandon(id, isTimeout, isMutation),
    });
    this.#restarts.start();
    this.#health = watchHealth({
      intervalMs: options.healthCheckMs,
      isIdle: () => this.#calls.size === 0 && this.#pending.size === 0,
      check: () => this.#checkHealth(),
    });
  }

  // ---- from the client ----------------------------------------------------------------------

  receive(frame: Frame): void {
    const { message, line } = frame;
    // Calls are refused with an envelope.
    const ambiguous = message.method === 'tools/call' ? undefined : ambiguousRoute(line);
    if (ambiguous !== undefined) return this.#ambiguous(frame, ambiguous);
    if (isRequest(frame)) return this.#request(frame);
    if (message.method !== undefined) return this.#notification(frame);
    if (!isResponse(frame)) return;
    // Only requests that the upstream has made can be answered.
    if (this.#upstreamRequests.delete(frame.message.id)) this.#trySend(frame);
  }

  /** The server could read it as a call that was not checked. */
  #ambiguous(frame: Frame, member: string): void {
    const { log, name: upstream } = this.#options;
    log('warn', 'guard_message_ambiguous', { upstream, member });
    if (!isRequest(frame)) return;
    const text = `Invalid Request: ${member} occurs twice or in another case`;
    this.#refuse(frame.message.id, -32_600, text);
  }

  #request(frame: RequestFrame): void {
    const { id, method, params } = frame.message;
    // A call gets another id if a cancelled one is still in flight with this one.
    if (this.#isAwaited(id) || (method !== 'tools/call' && this.#calls.isSent(id))) {
      return this.#refuse(id, -32_600, 'Invalid Request: a request with this id is in flight');
    }
    const meta = objectIn(params, '_meta');
    if (meta[VERSION_KEY] !== undefined && method !== 'server/discover') this.#learnModern(meta);
    if (method === 'tools/call') return this.#calls.start(frame);
    if (this.#options.view?.answers(frame, this.#options.client.send)) return;
    this.#handshake.note(frame);
    const isSent = this.#trySend(frame);
    this.#pending.add(frame, isSent);
    if (!isSent) this.#restarts.start();
  }

  #isAwaited(id: Id): boolean {
    return this.#pending.has(id) || this.#calls.has(id) || this.#own.has(id);
  }

  #notification(frame: Frame): void {
    const { method, params } = frame.message;
    if (method === 'tools/call') {
      // Without an id nobody waits for an answer, and no rule, record or check would apply to it.
      const { log, name: upstream } = this.#options;
      return log('warn', 'guard_call_without_id', { upstream });
    }
    if (method === 'notifications/initialized') {
      this.#handshake.initialized = frame;
      this.#notify(frame);
      return void this.#listing.fetch();
    }
    if (method === 'notifications/cancelled') {
      const id = params?.['requestId'] as Id;
      if (this.#calls.cancel(id, params?.['reason'])) return;
      this.#pending.take(id);
    }
    this.#notify(frame);
  }

  #notify(frame: Frame): void {
    if (!this.#trySend(frame) && this.#outbox.length < MAX_OUTBOX) this.#outbox.push(frame);
  }

  /** For calls of the guard itself: operations that an operator has approved, read-backs. */
  ownExchange(): Exchange {
    return this.#calls.ownExchange();
  }

  /** An attempt was given up. A mutation is left alone: cancelling it half way helps nobody. */
  #abandon(requestId: Id, isTimeout: boolean, isMutation: boolean): void {
    if (!isMutation) {
      const params = { requestId, reason: isTimeout ? 'timeout' : 'cancelled' };
      this.#trySend(frameOf({ jsonrpc: '2.0', method: 'notifications/cancelled', params }));
    }
    if (isTimeout) void this.#probe();
  }

  /** Whether the upstream is connected and, as far as is known, responds. */
  get isUp(): boolean {
    return this.#restarts.current !== undefined;
  }

  /** Before the handshake an upstream need not answer; one that could not be started is tried again. */
  async #checkHealth(): Promise<void> {
    if (!this.#restarts.current) return this.#restarts.start();
    if (this.#capabilities ?? this.#modernMeta) await this.#probe();
  }

  /**
   * Ends an upstream that no longer responds. While it works on a mutation it is left alone: a server may
   * do one thing at a time, and the outcome would be lost. The end of that attempt asks again.
   */
  async #probe(): Promise<void> {
    const link = this.#restarts.current;
    if (!link) return;
    const method = this.#modernMeta ? 'server/discover' : 'ping';
    const answered = await this.#ask(method, {}, PROBE_MS);
    if (answered || this.#restarts.current !== link || this.#calls.hasMutation) return;
    this.#restarts.restart('does not respond');
  }

  /** The upstream does not answer a request other than a call. */
  #expired({ message: { id, method } }: RequestFrame, reason: string): void {
    if (method === 'initialize') return this.#restarts.end(reason);
    const { log, name: upstream } = this.#options;
    log('warn', 'upstream_request_timeout', { upstream, method, reason });
    const data = { retryable: isSafeMethod(method) };
    this.#refuse(id, UNAVAILABLE_CODE, `The upstream ${reason}.`, data);
    this.#abandon(id, true, false);
  }

  // ---- from the upstream --------------------------------------------------------------------

  #fromUpstream(frame: Frame): void {
    this.#health.seen();
    const { message } = frame;
    if (isResponse(frame)) return this.#response(frame);
    if (isRequest(frame)) {
      this.#upstreamRequests.add(frame.message.id);
      return this.#toClient(frame);
    }
    if (message.method === undefined) {
      const { code, message: text } = message.error ?? {};
      const { log, name: upstream } = this.#options;
      return log('warn', 'upstream_error', { upstream, code, text });
    }
    if (message.method === 'notifications/progress') {
      this.#pending.progress(message.params?.['progressToken']);
      const progress = this.#calls.progress(frame);
      return progress && this.#toClient(progress);
    }
    if (message.method === 'notifications/tools/list_changed') {
      const subscription = objectIn(message.params, '_meta')[SUBSCRIPTION_KEY];
      return this.#listing.changed(subscription, () => {
        // Clients of 2026-07-28 get it as subscribers only.
        if (!this.#modernMeta || subscription !== undefined) this.#toClient(frame);
      });
    }
    if (message.method === 'notifications/cancelled') {
      this.#upstreamRequests.delete(message.params?.['requestId'] as Id);
    }
    this.#toClient(frame);
  }

  #toClient(frame: Frame): void {
    this.#options.client.send(this.#options.calls.scrubbed(frame));
  }

  #response(frame: ResponseFrame): void {
    const { id } = frame.message;
    if (this.#calls.settle(frame)) return this.#restarts.succeeded();
    if (this.#own.settle(id, frame)) return;
    const request = this.#pending.take(id);
    if (!request) {
      // Late, twice, or with a wrong id: it must not settle anything.
      const { log, name: upstream } = this.#options;
      return log('debug', 'upstream_unexpected_response', { upstream, id });
    }
    this.#restarts.succeeded();
    this.#learn(request, frame.message);
    if (request.message.method === 'initialize') this.#handshake.decide();
    const { view, calls } = this.#options;
    // A view may cut texts, and a secret that is cut is not recognised.
    this.#toClient(view ? view.response(request, calls.scrubbed(frame) as ResponseFrame) : frame);
  }

  #learn({ message: { method, params } }: RequestFrame, { result }: Message): void {
    if (!result) return;
    if (method === 'initialize') this.#capabilities = objectIn(result, 'capabilities');
    if (method === 'tools/list') this.#options.calls.learn(toolsIn(result));
    if (method === 'server/discover') this.#learnModern(objectIn(params, '_meta'));
  }

  #fail(id: Id, fault: Fault): void {
    if (this.#calls.fail(id, fault) || this.#own.settle(id)) return;
    // Another link is on its way.
    const isKept = fault.sent === 'no' && !this.#restarts.current;
    if (isKept && this.#pending.keep(id, fault.cause instanceof SessionEnded)) return;
    if (!this.#pending.take(id)) return;
    this.#refuse(id, UNAVAILABLE_CODE, textOf(fault), { retryable: fault.final !== true });
  }

  // ---- the life of the upstream -------------------------------------------------------------

  #lost(reason: string): void {
    this.#upstreamRequests.clear();
    this.#calls.lose(reason);
    this.#own.lose();
    for (const id of this.#pending.lose()) {
      const text = `The upstream ${reason} while it processed this request.`;
      this.#refuse(id, UNAVAILABLE_CODE, text, { retryable: true });
    }
    this.#listing.lose();
  }

  #unavailable(reason: string): void {
    for (const id of this.#pending.clear()) {
      this.#refuse(id, UNAVAILABLE_CODE, `The upstream ${reason}.`, { retryable: true });
    }
    this.#outbox = [];
    // Calls that wait for the handshake fail like the handshake.
    this.#handshake.decide();
  }

  /** A new server knows nothing of the session: it is initialised as the first one was. */
  async #repeatHandshake(link: Link): Promise<void> {
    const { initialize } = this.#handshake;
    // A handshake of the client that is in flight is sent as soon as the link is ready.
    if (!initialize || this.#pending.has(initialize.message.id)) return;
    const { startTimeoutMs, log, name } = this.#options;
    const capabilities = await this.#handshake.repeat(link, (method, params) =>
      this.#ask(method, params, startTimeoutMs, link),
    );
    this.#capabilities ??= capabilities;
    log('info', 'upstream_restarted', { upstream: name });
  }

  /** If the upstream has ended again, the link is lost next, and with it what could not be sent. */
  #ready(isRestart: boolean): void {
    for (const frame of this.#pending.unsent()) this.#trySend(frame);
    for (const frame of this.#outbox.splice(0)) {
      // A repeated handshake includes it.
      if (isRestart && frame === this.#handshake.initialized) continue;
      this.#trySend(frame);
    }
    if (isRestart && this.#listing.isDone) this.#listing.repeat();
  }

  // ---- the tools of the upstream ------------------------------------------------------------

  #learnModern(meta: Readonly<Record<string, unknown>>): void {
    if (this.#modernMeta || typeof meta[VERSION_KEY] !== 'string') return;
    this.#modernMeta = { [VERSION_KEY]: meta[VERSION_KEY], [CAPABILITIES_KEY]: {} };
    this.#handshake.decide();
    void this.#listing.fetch();
  }

  /** Resolves when the tools are known, or cannot be known. Undefined: they are. */
  toolsListed(): Promise<void> | undefined {
    return this.#listing.known();
  }

  // ---- plumbing -----------------------------------------------------------------------------

  /** Makes a request of the guard's own. Undefined: no answer. */
  async #ask(
    method: string,
    params: Readonly<Record<string, unknown>>,
    timeoutMs: number,
    given?: Link,
  ): Promise<ResponseFrame | undefined> {
    const id = this.#nextId();
    const meta = this.#modernMeta;
    const message = {
      jsonrpc: '2.0',
      id,
      method,
      params: meta ? { ...params, _meta: { ...objectIn(params, '_meta'), ...meta } } : params,
    } as const;
    try {
      return await this.#own.ask(given ?? (await this.#restarts.ready()), message, timeoutMs);
    } catch {
      return undefined;
    }
  }

  #trySend(frame: Frame): boolean {
    try {
      this.#restarts.current?.send(frame);
      return this.#restarts.current !== undefined;
    } catch {
      return false;
    }
  }

  #refuse(id: Id, code: number, message: string, data?: Readonly<Record<string, unknown>>): void {
    const error = data ? { code, message, data } : { code, message };
    // Calls that wait for the handshake would wait forever.
    if (id === this.#handshake.initialize?.message.id) this.#handshake.decide();
    this.#options.client.send(frameOf({ jsonrpc: '2.0', id, error }));
  }

  /** Stops the delivery of frames while the client does not read. */
  pauseUpstream(): void {
    this.#restarts.current?.pause();
  }

  resumeUpstream(): void {
    this.#restarts.current?.resume();
  }

  /** The client is gone: its reads end, mutations that are being sent continue. */
  disconnect(): void {
    this.#calls.disconnect();
  }

  /** The connection that waited for this call is gone, but the client may still fetch its result. */
  detach(id: Id): void {
    this.#calls.detach(id);
  }

  /** The client has cancelled a call while its response was on its way. */
  dropped(id: Id): void {
    this.#calls.dropped(id);
  }

  async close(): Promise<void> {
    this.#health.stop();
    this.disconnect();
    this.#pending.clear();
    await this.#restarts.close();
    // Mutations that were not answered by now never will be; equal calls of other sessions wait for them.
    this.#calls.lose('was ended with its session');
    this.#listing.lose();
    this.#own.lose();
    this.#onClosed();
  }
}

import type { AttemptContext, Fault } from '@toolkeel/kernel';
import type { HostLog } from '@toolkeel/host';
import {
  Attempts,
  createCall,
  lostFault,
  type CallState,
  type Exchange,
  type SentRequest,
} from './attempts.js';
import type { Answer, GuardedCalls } from './calls.js';
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
import type { Connect, Link } from './link.js';
import { Listing, TOOLS_CHANGED, toolsIn } from './listing.js';
import { OwnRequests } from './own-requests.js';
import { Restarts } from './restarts.js';

/** The client's end of a session. */
export interface Client {
  /** Writes a frame. `written` is called with false if it did not reach the client. */
  readonly send: (frame: Frame, written?: (isDelivered: boolean) => void) => void;
  /** The upstream does not read: the client's frames have to wait. */
  readonly pause: () => void;
  readonly resume: () => void;
  /**
   * How much later than a new request the end of an earlier connection may be noticed. Absent if all
   * messages of the client arrive in order.
   */
  readonly lagMs?: number;
}

export interface SessionOptions {
  readonly name: string;
  readonly connect: Connect;
  readonly client: Client;
  readonly calls: GuardedCalls;
  readonly log: HostLog;
  readonly startTimeoutMs: number;
}

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';
/** How long a server may take to show that it still responds. */
const PROBE_MS = 5000;
const MAX_OUTBOX = 1000;
/** Outside of the range that JSON-RPC and MCP reserve. */
const UNAVAILABLE_CODE = 503;

interface Pending {
  readonly frame: RequestFrame;
  readonly isSafe: boolean;
}

/**
 * Routes the frames of one client to an upstream and back. Frames are passed on as they came; only tool
 * calls are taken out and run through the guard.
 */
export class Session {
  readonly #options: SessionOptions;
  readonly #restarts: Restarts;
  readonly #pending = new Map<Id, Pending>();
  readonly #calls = new Map<Id, CallState>();
  readonly #attempts = new Attempts({
    nextId: () => this.#nextId(),
    onAbandoned: (id, isTimeout, isMutation) => this.#abandon(id, isTimeout, isMutation),
  });
  readonly #own = new OwnRequests();
  readonly #upstreamRequests = new Set<Id>();
  readonly #subscriptions = new Map<string, RequestFrame>();
  #initialize: RequestFrame | undefined;
  #initialized: Frame | undefined;
  #logLevel: RequestFrame | undefined;
  #capabilities: Readonly<Record<string, unknown>> | undefined;
  /** The `_meta` of requests of the revision 2026-07-28; undefined for earlier ones. */
  #modernMeta: Readonly<Record<string, unknown>> | undefined;
  readonly #listing = new Listing({
    ask: (method, params) => this.#ask(method, params, this.#options.startTimeoutMs),
    hasTools: async () => {
      // A client may send its first calls together with its handshake.
      if (this.#initialize) await this.#handshake;
      return this.#modernMeta !== undefined || this.#capabilities?.['tools'] !== undefined;
    },
    onTools: (tools) => this.#options.calls.replace(tools),
    // Clients of 2026-07-28 have to subscribe to it.
    onChanged: () => void (this.#modernMeta ?? this.#options.client.send(TOOLS_CHANGED)),
  });
  /** Notifications of the client that arrived before the upstream was ready. */
  #outbox: Frame[] = [];
  #onHandshake = (): void => {};
  /** Resolves when the revision of the session is decided. */
  readonly #handshake = new Promise<void>((resolve) => {
    this.#onHandshake = resolve;
  });
  #sequence = 0;
  #isClosed = false;
  #onClosed = (): void => {};
  /** Resolves when the upstream of this session has ended. */
  readonly closed = new Promise<void>((resolve) => {
    this.#onClosed = resolve;
  });

  constructor(options: SessionOptions) {
    this.#options = options;
    const { name, connect, log, client } = options;
    this.#restarts = new Restarts({
      name,
      connect,
      log,
      onFrame: (frame) => this.#fromUpstream(frame),
      onFailed: (id, fault) => this.#fail(id, fault),
      onBlocked: (isBlocked) => (isBlocked ? client.pause() : client.resume()),
      onLost: (reason) => this.#lost(reason),
      prepare: (link) => this.#repeatHandshake(link),
      onReady: (link, isRestart) => this.#ready(link, isRestart),
      onUnavailable: (reason) => this.#unavailable(reason),
    });
    this.#restarts.start();
  }

  // ---- from the client ----------------------------------------------------------------------

  receive(frame: Frame): void {
    const { message } = frame;
    if (isRequest(frame)) return this.#request(frame);
    if (message.method !== undefined) return this.#notification(frame);
    if (!isResponse(frame)) return;
    // Only requests that the upstream has made can be answered.
    if (this.#upstreamRequests.delete(frame.message.id)) this.#trySend(frame);
  }

  #request(frame: RequestFrame): void {
    const { id, method, params } = frame.message;
    if (this.#pending.has(id) || this.#calls.has(id)) {
      return this.#refuse(id, -32_600, 'Invalid Request: a request with this id is in flight');
    }
    const meta = objectIn(params, '_meta');
    if (meta[VERSION_KEY] !== undefined && method !== 'server/discover') this.#learnModern(meta);
    if (method === 'tools/call') return this.#call(frame);
    if (method === 'initialize') this.#initialize = frame;
    if (method === 'logging/setLevel') this.#logLevel = frame;
    const uri = params?.['uri'];
    if (method === 'resources/subscribe' && typeof uri === 'string') {
      this.#subscriptions.set(uri, frame);
    }
    if (method === 'resources/unsubscribe' && typeof uri === 'string') {
      this.#subscriptions.delete(uri);
    }
    this.#pending.set(id, { frame, isSafe: isSafeMethod(method) });
    // A frame that cannot be sent now is sent when the upstream is ready.
    if (!this.#trySend(frame)) this.#restarts.start();
  }

  #notification(frame: Frame): void {
    const { method, params } = frame.message;
    if (method === 'notifications/initialized') {
      this.#initialized = frame;
      this.#notify(frame);
      return void this.#listing.fetch();
    }
    if (method === 'notifications/cancelled') {
      const id = params?.['requestId'] as Id;
      const call = this.#calls.get(id);
      if (call) {
        this.#calls.delete(id);
        call.onDetached?.();
        return call.controller.abort(params?.['reason'] ?? 'the client cancelled the call');
      }
      this.#pending.delete(id);
    }
    this.#notify(frame);
  }

  #notify(frame: Frame): void {
    if (!this.#trySend(frame) && this.#outbox.length < MAX_OUTBOX) this.#outbox.push(frame);
  }

  #call(frame: RequestFrame): void {
    const { id, params } = frame.message;
    const token = objectIn(params, '_meta')['progressToken'];
    const call = createCall(token);
    const { controller } = call;
    this.#calls.set(id, call);
    const answer = (found: Answer): void => {
      // A cancelled call is not answered; its result may be claimed by a repeat.
      const isCurrent = this.#calls.get(id) === call && this.#calls.delete(id);
      if (!isCurrent || this.#isClosed) return found.settled?.(false);
      this.#options.client.send(found.frame, found.settled);
    };
    const { lagMs } = this.#options.client;
    const exchange: Exchange = {
      signal: controller.signal,
      ...(lagMs !== undefined && { lagMs }),
      onDetached: (callback) => {
        call.onDetached = callback;
      },
      tools: () => this.toolsListed(),
      send: (attempt, request) => this.#attempt(call, attempt, request),
      finish: (isTimeout) => call.abandon?.(isTimeout),
    };
    void this.#options.calls.run(frame, exchange).then(answer);
  }

  /** For calls of the guard itself: operations that an operator has approved, read-backs. */
  readonly ownExchange = (): Exchange => {
    const call = createCall(undefined);
    return {
      signal: call.controller.signal,
      onDetached: () => {},
      tools: () => this.toolsListed(),
      send: (attempt, sent) => {
        const { params = {}, ...message } = sent.request.message;
        const meta = { ...objectIn(params, '_meta'), ...this.#modernMeta };
        const request = { ...message, id: this.#nextId(), params: { ...params, _meta: meta } };
        return this.#attempt(call, attempt, { ...sent, request: frameOf(request) as RequestFrame });
      },
      finish: (isTimeout) => call.abandon?.(isTimeout),
    };
  };

  /** Sends one attempt of a call and waits for its answer. */
  async #attempt(
    call: CallState,
    attempt: AttemptContext,
    sent: SentRequest,
  ): Promise<ResponseFrame> {
    attempt.sent = 'no';
    if (!this.#restarts.current) await this.#restarts.ready(attempt.signal);
    return sent.write(() => {
      const link = this.#restarts.current;
      if (!link) throw lostFault('no', 'the upstream was lost before the call was sent');
      return this.#attempts.send(link, call, attempt, sent);
    });
  }

  /** An attempt was given up. A mutation is left alone: cancelling it half way helps nobody. */
  #abandon(requestId: Id, isTimeout: boolean, isMutation: boolean): void {
    if (!isMutation) {
      const params = { requestId, reason: isTimeout ? 'timeout' : 'cancelled' };
      this.#trySend(frameOf({ jsonrpc: '2.0', method: 'notifications/cancelled', params }));
    }
    if (isTimeout) void this.#probe();
  }

  /** Ends an upstream that no longer responds. */
  async #probe(): Promise<void> {
    const link = this.#restarts.current;
    if (!link) return;
    const method = this.#modernMeta ? 'server/discover' : 'ping';
    const answered = await this.#ask(method, {}, PROBE_MS);
    if (!answered && this.#restarts.current === link) this.#restarts.restart('does not respond');
  }

  // ---- from the upstream --------------------------------------------------------------------

  #fromUpstream(frame: Frame): void {
    const { message } = frame;
    if (isResponse(frame)) return this.#response(frame);
    if (isRequest(frame)) {
      this.#upstreamRequests.add(frame.message.id);
      return this.#toClient(frame);
    }
    if (message.method === undefined) {
      const { error } = message;
      return this.#options.log('warn', 'upstream_error', {
        upstream: this.#options.name,
        code: error?.code,
        text: error?.message,
      });
    }
    if (message.method === 'notifications/progress') {
      const progress = this.#attempts.progress(frame);
      return progress && this.#toClient(progress);
    }
    if (message.method === 'notifications/tools/list_changed') void this.#listing.fetch(true);
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
    if (this.#attempts.settle(frame)) return this.#restarts.succeeded();
    if (this.#own.settle(id, frame)) return;
    const pending = this.#pending.get(id);
    if (!pending) {
      // Late, twice, or with a wrong id: it must not settle anything.
      return this.#options.log('debug', 'upstream_unexpected_response', {
        upstream: this.#options.name,
        id,
      });
    }
    this.#pending.delete(id);
    this.#restarts.succeeded();
    this.#learn(pending.frame, frame.message);
    if (pending.frame.message.method === 'initialize') this.#onHandshake();
    this.#toClient(frame);
  }

  #learn({ message: { method, params } }: RequestFrame, { result }: Message): void {
    if (!result) return;
    if (method === 'initialize') this.#capabilities = objectIn(result, 'capabilities');
    if (method === 'tools/list') this.#options.calls.learn(toolsIn(result));
    if (method === 'server/discover') this.#learnModern(objectIn(params, '_meta'));
  }

  #fail(id: Id, fault: Fault): void {
    if (this.#attempts.fail(id, fault) || this.#own.settle(id)) return;
    if (!this.#pending.delete(id)) return;
    const text =
      fault.kind === 'bad_response'
        ? 'The response of the upstream is too large.'
        : 'The upstream is unavailable. Try again later.';
    this.#refuse(id, UNAVAILABLE_CODE, text, { retryable: fault.final !== true });
  }

  // ---- the life of the upstream -------------------------------------------------------------

  #lost(reason: string): void {
    this.#upstreamRequests.clear();
    this.#attempts.lose(reason);
    this.#own.lose();
    for (const [id, { isSafe }] of this.#pending) {
      if (isSafe) continue;
      this.#pending.delete(id);
      const text = `The upstream ${reason} while it processed this request.`;
      this.#refuse(id, UNAVAILABLE_CODE, text, { retryable: true });
    }
    this.#listing.lose();
  }

  #unavailable(reason: string): void {
    for (const id of this.#pending.keys()) {
      this.#refuse(id, UNAVAILABLE_CODE, `The upstream ${reason}.`, { retryable: true });
    }
    this.#pending.clear();
    this.#outbox = [];
    // Calls that wait for the handshake fail like the handshake.
    this.#onHandshake();
  }

  /** A new server knows nothing of the session: it is initialised as the first one was. */
  async #repeatHandshake(link: Link): Promise<void> {
    // A handshake of the client that is in flight is sent as soon as the link is ready.
    if (!this.#initialize || this.#pending.has(this.#initialize.message.id)) return;
    const { startTimeoutMs, log, name } = this.#options;
    const { params = {} } = this.#initialize.message;
    const answered = await this.#ask('initialize', params, startTimeoutMs, link);
    if (!answered?.message.result) throw new Error('it did not answer initialize');
    this.#capabilities ??= objectIn(answered.message.result, 'capabilities');
    link.send(
      this.#initialized ?? frameOf({ jsonrpc: '2.0', method: 'notifications/initialized' }),
    );
    const repeated = [this.#logLevel, ...this.#subscriptions.values()].flatMap((frame) =>
      frame ? [frame.message] : [],
    );
    for (const { method, params: given = {} } of repeated) {
      await this.#ask(method, given, startTimeoutMs, link);
    }
    log('info', 'upstream_restarted', { upstream: name });
  }

  #ready(link: Link, isRestart: boolean): void {
    for (const { frame } of this.#pending.values()) link.send(frame);
    for (const frame of this.#outbox.splice(0)) {
      // A repeated handshake includes it.
      if (isRestart && frame === this.#initialized) continue;
      link.send(frame);
    }
    if (isRestart && this.#listing.isDone) this.#listing.repeat();
  }

  // ---- the tools of the upstream ------------------------------------------------------------

  #learnModern(meta: Readonly<Record<string, unknown>>): void {
    if (this.#modernMeta || typeof meta[VERSION_KEY] !== 'string') return;
    this.#modernMeta = { [VERSION_KEY]: meta[VERSION_KEY], [CAPABILITIES_KEY]: {} };
    this.#onHandshake();
    void this.#listing.fetch();
  }

  /** Resolves when the tools are known, or cannot be known. Undefined: they are. */
  toolsListed(): Promise<void> | undefined {
    return this.#listing.isDone ? undefined : this.#listing.fetch();
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

  #nextId(): Id {
    return `toolkeel:${++this.#sequence}`;
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
    if (id === this.#initialize?.message.id) this.#onHandshake();
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
    this.#isClosed = true;
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const { controller, onDetached } of calls) {
      onDetached?.();
      controller.abort(new Error('the client disconnected'));
    }
  }

  /** The connection that waited for this call is gone, but the client may still fetch its result. */
  detach(id: Id): void {
    this.#calls.get(id)?.onDetached?.();
  }

  async close(): Promise<void> {
    this.disconnect();
    await this.#restarts.close();
    this.#own.lose();
    this.#onClosed();
  }
}

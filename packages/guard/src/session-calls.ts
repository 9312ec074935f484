import type { AttemptContext, Fault } from '@toolkeel/kernel';
import { InFlightTable } from '@toolkeel/host/parts';
import {
  Attempts,
  lostFault,
  SignalledCall,
  type CallState,
  type Exchange,
  type SentRequest,
} from './attempts.js';
import type { Answer } from './calls.js';
import {
  frameOf,
  objectIn,
  type Frame,
  type Id,
  type RequestFrame,
  type ResponseFrame,
} from './frame.js';
import type { Listing } from './listing.js';
import type { ReadSession } from './quick-reads.js';
import type { Restarts } from './restarts.js';
import type { SessionOptions } from './session-options.js';

interface SessionCallsOptions extends Pick<SessionOptions, 'calls' | 'client' | 'view'> {
  readonly restarts: Pick<Restarts, 'current' | 'ready' | 'reason'>;
  readonly listing: Pick<Listing, 'isDone' | 'known'>;
  /** An id that no frame of the client has. */
  readonly nextId: () => Id;
  /** The `_meta` that each request of this session needs. */
  readonly meta: () => Readonly<Record<string, unknown>> | undefined;
  /** An attempt was given up while the upstream works on it. */
  readonly onAbandoned: (id: Id, isTimeout: boolean, isMutation: boolean) => void;
}

/** The tool calls of a session: those of its client, and those that the guard makes itself. */
export class SessionCalls {
  readonly #options: SessionCallsOptions;
  readonly #inFlight = new InFlightTable<CallState>();
  readonly #attempts: Attempts;
  /** Responses of mutations that were written a moment ago. */
  readonly #unconfirmed = new Map<
    Id,
    { readonly answer: Answer; readonly timer: NodeJS.Timeout }
  >();
  #isClosed = false;

  constructor(options: SessionCallsOptions) {
    this.#options = options;
    const { nextId, onAbandoned } = options;
    this.#attempts = new Attempts({ nextId, onAbandoned });
  }

  /** The number of calls in flight. */
  get size(): number {
    return this.#inFlight.size;
  }

  has(id: Id): boolean {
    return this.#inFlight.has(id);
  }

  /** Whether an attempt has this id, also if the client has cancelled its call. */
  isSent(id: Id): boolean {
    return this.#attempts.has(id);
  }

  /** Whether the upstream works on a mutation. */
  get hasMutation(): boolean {
    return this.#attempts.hasMutation;
  }

  // ---- of the client ------------------------------------------------------------------------

  start(frame: RequestFrame): void {
    const { calls, client, view, listing, restarts } = this.#options;
    if (listing.isDone && calls.startRead(frame, this.#reads)) return;
    const call = new SignalledCall(objectIn(frame.message.params, '_meta')['progressToken']);
    const { id } = frame.message;
    // It has received the response to the request that had this id.
    this.#confirm(id);
    this.#inFlight.set(id, call);
    const { lagMs } = client;
    let isDetached = false;
    // It may be detached before it is known to be a mutation.
    call.onDetached = () => {
      isDetached = true;
    };
    const exchange: Exchange = {
      signal: call.signal,
      keeper: view?.keeper,
      ...(lagMs !== undefined && { lagMs }),
      onDetached: (callback) => {
        call.onDetached = callback;
        if (isDetached) callback();
      },
      tools: () => listing.known(),
      reason: () => restarts.reason ?? NOT_LISTED,
      send: (attempt, request) => this.#attempt(call, attempt, request),
      finish: (isTimeout) => call.attempt?.abandon(isTimeout),
    };
    void calls.run(frame, exchange).then((found) => this.#answer(id, call, found));
  }

  readonly #reads: ReadSession = {
    enter: (id, call) => this.#inFlight.set(id, call),
    send: (call, attempt, sent) => {
      const link = this.#options.restarts.current;
      if (!link) return this.#attempt(call, attempt, sent);
      attempt.sent = 'no';
      return this.#attempts.send(link, call, attempt, sent);
    },
    answer: (id, call, frame) => this.#answer(id, call, { frame }),
  };

  #answer(id: Id, call: CallState, answer: Answer): void {
    const { frame, settled } = answer;
    // A cancelled call is not answered; its result may be claimed by a repeat.
    const isCurrent = this.#inFlight.get(id) === call && this.#inFlight.delete(id);
    if (!isCurrent || this.#isClosed) return settled?.(false);
    this.#options.client.send(
      frame,
      settled && ((isWritten) => this.#written(id, answer, isWritten)),
    );
  }

  #written(id: Id, answer: Answer, isWritten: boolean): void {
    answer.settled?.(isWritten);
    if (!isWritten) return;
    this.#confirm(id);
    if (this.#isClosed) return answer.confirmed?.();
    const timer = setTimeout(() => this.#confirm(id), CROSSING_MS).unref();
    this.#unconfirmed.set(id, { answer, timer });
  }

  /** The client has taken the response. */
  #confirm(id: Id): void {
    const found = this.#unconfirmed.get(id);
    if (!found) return;
    this.#unconfirmed.delete(id);
    clearTimeout(found.timer);
    found.answer.confirmed?.();
  }

  /** The client has cancelled a call whose response was on its way: it drops the response. */
  dropped(id: Id): boolean {
    const found = this.#unconfirmed.get(id);
    if (!found) return false;
    this.#unconfirmed.delete(id);
    clearTimeout(found.timer);
    found.answer.settled?.(false);
    return true;
  }

  /** False if no such call is in flight. */
  cancel(id: Id, reason: unknown): boolean {
    const call = this.#inFlight.get(id);
    if (!call) return this.dropped(id);
    this.#inFlight.delete(id);
    call.onDetached?.();
    call.cancel(reason ?? 'the client cancelled the call');
    return true;
  }

  /** The connection that waited for this call is gone, but the client may still fetch its result. */
  detach(id: Id): void {
    this.#inFlight.get(id)?.onDetached?.();
  }

  /** The client is gone: its reads end, mutations that are being sent continue. */
  disconnect(): void {
    this.#isClosed = true;
    for (const id of this.#unconfirmed.keys()) this.#confirm(id);
    const calls = this.#inFlight.values();
    this.#inFlight.clear();
    for (const call of calls) {
      call.onDetached?.();
      call.cancel(new Error('the client disconnected'));
    }
  }

  // ---- of the guard -------------------------------------------------------------------------

  /** For operations that an operator has approved, and read-backs. */
  readonly ownExchange = (): Exchange => {
    const { restarts, listing, nextId, meta: ofSession } = this.#options;
    const call = new SignalledCall();
    return {
      signal: call.signal,
      onDetached: () => {},
      tools: () => listing.known(),
      reason: () => restarts.reason ?? NOT_LISTED,
      send: (attempt, sent) => {
        const { params = {}, ...message } = sent.request.message;
        const meta = { ...objectIn(params, '_meta'), ...ofSession() };
        const request = { ...message, id: nextId(), params: { ...params, _meta: meta } };
        const frame = frameOf(request, sent.request) as RequestFrame;
        return this.#attempt(call, attempt, { ...sent, request: frame });
      },
      finish: (isTimeout) => call.attempt?.abandon(isTimeout),
    };
  };

  // ---- attempts -----------------------------------------------------------------------------

  /** Sends one attempt of a call and waits for its answer. */
  async #attempt(
    call: CallState,
    attempt: AttemptContext,
    sent: SentRequest,
  ): Promise<ResponseFrame> {
    const { restarts } = this.#options;
    attempt.sent = 'no';
    if (!restarts.current) await restarts.ready(attempt.signal);
    return sent.write(() => {
      const link = restarts.current;
      if (!link) throw lostFault('no', 'the upstream was lost before the call was sent');
      return this.#attempts.send(link, call, attempt, sent);
    });
  }

  /** False if the frame answers none of the attempts. */
  settle(frame: ResponseFrame): boolean {
    return this.#attempts.settle(frame);
  }

  fail(id: Id, fault: Fault): boolean {
    return this.#attempts.fail(id, fault);
  }

  /** Extends the attempt that progress belongs to. Returns the frame for the client, if any. */
  progress(frame: Frame): Frame | undefined {
    return this.#attempts.progress(frame);
  }

  /** The upstream is lost, and with it all attempts. */
  lose(reason: string): void {
    this.#attempts.lose(reason);
  }
}

/** How long a cancellation may be on its way while the response is. */
const CROSSING_MS = 1000;
const NOT_LISTED = 'has not listed its tools';

import type { ToolOperation } from '@toolkeel/contract';
import { InFlightTable } from '@toolkeel/host/parts';
import { FaultError, type AttemptContext, type Fault } from '@toolkeel/kernel';
import {
  frameOf,
  objectIn,
  type Frame,
  type Id,
  type RequestFrame,
  type ResponseFrame,
} from './frame.js';
import type { ResultKeeper } from './kept-results.js';
import { SessionEnded, type Link } from './link.js';

/** A call of a client. */
export interface CallState {
  readonly progressToken: Id | undefined;
  /** The highest progress that the client has seen: a retry must not report less. */
  lastProgress: number;
  /** Whether the client has cancelled it or disconnected. */
  readonly isCancelled: boolean;
  readonly cancel: (reason: unknown) => void;
  /** Called when nobody waits for the result any more. */
  onDetached: (() => void) | undefined;
  /** The attempt that the upstream works on. */
  attempt: OpenAttempt | undefined;
}

/** A call that is cancelled through a signal. */
export class SignalledCall implements CallState {
  readonly progressToken: Id | undefined;
  lastProgress = -Infinity;
  onDetached: (() => void) | undefined = undefined;
  attempt: OpenAttempt | undefined = undefined;
  readonly #controller = new AbortController();

  constructor(token?: unknown) {
    this.progressToken = tokenOf(token);
  }

  /** Aborts when the client cancels or disconnects. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isCancelled(): boolean {
    return this.#controller.signal.aborted;
  }

  cancel(reason: unknown): void {
    this.#controller.abort(reason);
  }
}

/** The progress token of a client, if it is a valid one. */
export function tokenOf(token: unknown): Id | undefined {
  return typeof token === 'string' || typeof token === 'number' ? token : undefined;
}

/** A call as it is sent to the upstream. */
export interface SentRequest {
  readonly request: RequestFrame;
  readonly isMutation: boolean;
  /** Runs the exchange, after the journal has recorded it if it is a mutation. */
  readonly write: (exchange: () => Promise<ResponseFrame>) => Promise<ResponseFrame>;
}

/** What a guarded call needs of its session. */
export interface Exchange {
  /** Aborts when the client cancels or disconnects. */
  readonly signal: AbortSignal;
  /** See `Client`. */
  readonly lagMs?: number;
  /** Keeps what does not fit into a result. Undefined: results are not cut. */
  readonly keeper?: ResultKeeper | undefined;
  /** Sets what is called when the client cancels, or the connection of the call is lost. */
  readonly onDetached: (callback: () => void) => void;
  /** Undefined if the tools are known. */
  readonly tools: () => Promise<void> | undefined;
  /** Why the tools are not known: "exited with code 1". */
  readonly reason: () => string;
  readonly send: (attempt: AttemptContext, sent: SentRequest) => Promise<ResponseFrame>;
  /**
   * Has to be called at the end of a call: gives up an attempt that the upstream still works on. Cheaper
   * than the signal of each attempt, which few calls need.
   */
  readonly finish: (isTimeout: boolean) => void;
}

/** One call on its way: the kernel's input. */
export interface Job {
  readonly exchange: Pick<Exchange, 'send'>;
  readonly request: RequestFrame;
  readonly operation: ToolOperation | undefined;
  readonly isMutation: boolean;
}

interface AttemptsOptions {
  /** An id that no frame of the client has. */
  readonly nextId: () => Id;
  /** The answer of this request is no longer needed, but the upstream works on it. */
  readonly onAbandoned: (id: Id, isTimeout: boolean, isMutation: boolean) => void;
}

/** One attempt of a call, until the upstream answers. */
class OpenAttempt {
  readonly attempt: AttemptContext;
  readonly call: CallState;
  readonly id: Id;
  readonly token: Id | undefined;
  readonly isMutation: boolean;
  readonly #attempts: Attempts;
  #resolve: ((frame: ResponseFrame) => void) | undefined;
  #reject: ((cause: FaultError) => void) | undefined;

  constructor(
    attempts: Attempts,
    attempt: AttemptContext,
    call: CallState,
    [id, token, isMutation]: readonly [Id, Id | undefined, boolean],
  ) {
    this.#attempts = attempts;
    this.attempt = attempt;
    this.call = call;
    this.id = id;
    this.token = token;
    this.isMutation = isMutation;
  }

  /** Sends the request and waits for its answer. */
  send(link: Link, frame: RequestFrame): Promise<ResponseFrame> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      try {
        link.send(frame, this.isMutation);
        this.attempt.sent = 'maybe';
      } catch (cause) {
        this.reject(lostFault('no', cause instanceof Error ? cause.message : String(cause)));
      }
    });
  }

  resolve(frame: ResponseFrame): void {
    this.#attempts.close(this);
    this.#resolve?.(frame);
  }

  reject(cause: FaultError): void {
    this.#attempts.close(this);
    this.#reject?.(cause);
  }

  /** Gives it up while the upstream works on it. */
  abandon(isTimeout: boolean): void {
    const { call } = this;
    this.#attempts.close(this);
    this.#attempts.abandoned(this, isTimeout);
    this.#reject?.(
      call.isCancelled ? cancelledFault() : lostFault('maybe', 'the attempt was abandoned'),
    );
  }
}

/** The attempts of a session that the upstream has not answered yet. */
export class Attempts {
  readonly #options: AttemptsOptions;
  readonly #byId = new InFlightTable<OpenAttempt>();
  readonly #byToken = new InFlightTable<OpenAttempt>();
  /** Mutations that were refused because their session had ended. */
  readonly #refused = new WeakSet<CallState>();

  constructor(options: AttemptsOptions) {
    this.#options = options;
  }

  /** Sends an attempt and waits for its answer. The first one is sent as the client wrote it. */
  send(
    link: Link,
    call: CallState,
    attempt: AttemptContext,
    { request, isMutation }: SentRequest,
  ): Promise<ResponseFrame> {
    const isFirst = attempt.index === 0 && !this.#byId.has(request.message.id);
    const id = isFirst ? request.message.id : this.#options.nextId();
    const frame = isFirst ? request : withNewId(request, id);
    const token = call.progressToken === undefined || isFirst ? call.progressToken : id;
    // Attempts follow each other: the kernel has given the earlier one up.
    call.attempt?.abandon(true);
    if (call.isCancelled) return Promise.reject(cancelledFault());
    const open = new OpenAttempt(this, attempt, call, [id, token, isMutation]);
    this.#byId.set(id, open);
    if (token !== undefined) this.#byToken.set(token, open);
    call.attempt = open;
    return open.send(link, frame);
  }

  /** Forgets an attempt: a later answer settles nothing. */
  close(open: OpenAttempt): void {
    const { id, token, call } = open;
    this.#byId.delete(id);
    if (token !== undefined) this.#byToken.delete(token);
    if (call.attempt === open) call.attempt = undefined;
  }

  abandoned({ id, isMutation }: OpenAttempt, isTimeout: boolean): void {
    this.#options.onAbandoned(id, isTimeout, isMutation);
  }

  has(id: Id): boolean {
    return this.#byId.has(id);
  }

  /** Whether a mutation has been sent and is not answered. */
  get hasMutation(): boolean {
    return this.#byId.values().some(({ isMutation }) => isMutation);
  }

  /** False if the frame answers none of the attempts. */
  settle(frame: ResponseFrame): boolean {
    const open = this.#byId.get(frame.message.id);
    open?.resolve(frame);
    return open !== undefined;
  }

  fail(id: Id, fault: Fault): boolean {
    const open = this.#byId.get(id);
    open?.reject(new FaultError(this.#believed(open, fault)));
    return open !== undefined;
  }

  /**
   * A mutation is sent again to a new session once. That a session has ended which was opened for this very
   * call is not believed: the refusal may be the answer of a tool.
   */
  #believed({ call, isMutation }: OpenAttempt, fault: Fault): Fault {
    if (!isMutation || !(fault.cause instanceof SessionEnded)) return fault;
    const isFirst = !this.#refused.has(call);
    this.#refused.add(call);
    return isFirst ? fault : { kind: 'network', sent: 'maybe', final: true, cause: fault.cause };
  }

  /** Extends the attempt that progress belongs to. Returns the frame for the client, if any. */
  progress(frame: Frame): Frame | undefined {
    const { params } = frame.message;
    const open = this.#byToken.get(params?.['progressToken'] as Id);
    if (!open) return frame;
    open.attempt.progress();
    const { call } = open;
    const progress = Number(params?.['progress']);
    // After a retry the upstream counts from the beginning.
    if (!(progress > call.lastProgress) || call.isCancelled) return undefined;
    call.lastProgress = progress;
    const { progressToken } = call;
    if (params?.['progressToken'] === progressToken) return frame;
    return frameOf({ ...frame.message, params: { ...params, progressToken } }, frame);
  }

  /** The upstream is lost, and with it all attempts. */
  lose(reason: string): void {
    for (const open of this.#byId.values()) open.reject(lostFault('maybe', reason));
  }
}

export function lostFault(sent: Fault['sent'], reason: string): FaultError {
  const kind = sent === 'no' ? 'connect' : 'network';
  return new FaultError({ kind, sent, cause: new Error(reason) });
}

function cancelledFault(): FaultError {
  return new FaultError({ kind: 'cancelled', sent: 'maybe' });
}

/** The same request for a further attempt. Its progress must not be mistaken for that of the first. */
function withNewId(frame: RequestFrame, id: Id): RequestFrame {
  const { message } = frame;
  const meta = objectIn(message.params, '_meta');
  const params =
    meta['progressToken'] === undefined
      ? message.params
      : { ...message.params, _meta: { ...meta, progressToken: id } };
  return frameOf({ ...message, id, ...(params && { params }) }, frame) as RequestFrame;
}

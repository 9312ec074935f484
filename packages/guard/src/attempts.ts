import { FaultError, type AttemptContext, type Fault } from '@toolkeel/kernel';
import {
  frameOf,
  objectIn,
  type Frame,
  type Id,
  type RequestFrame,
  type ResponseFrame,
} from './frame.js';
import type { Link } from './link.js';

/** A call of a client. */
export interface CallState {
  readonly progressToken: Id | undefined;
  /** The highest progress that the client has seen: a retry must not report less. */
  lastProgress: number;
  /** Aborts when the client cancels or disconnects. */
  readonly controller: AbortController;
  /** Called when nobody waits for the result any more. */
  onDetached: (() => void) | undefined;
  /** Gives up the attempt that the upstream works on. Undefined: there is none. */
  abandon: ((isTimeout: boolean) => void) | undefined;
}

/** A call with the progress token of its client, if it has a valid one. */
export function createCall(token: unknown): CallState {
  return {
    progressToken: typeof token === 'string' || typeof token === 'number' ? token : undefined,
    lastProgress: -Infinity,
    controller: new AbortController(),
    onDetached: undefined,
    abandon: undefined,
  };
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
  /** Sets what is called when the client cancels, or the connection of the call is lost. */
  readonly onDetached: (callback: () => void) => void;
  /** Undefined if the tools are known. */
  readonly tools: () => Promise<void> | undefined;
  readonly send: (attempt: AttemptContext, sent: SentRequest) => Promise<ResponseFrame>;
  /**
   * Has to be called at the end of a call: gives up an attempt that the upstream still works on. Cheaper
   * than the signal of each attempt, which few calls need.
   */
  readonly finish: (isTimeout: boolean) => void;
}

/** One attempt of a call, until the upstream answers. */
interface OpenAttempt {
  readonly attempt: AttemptContext;
  readonly resolve: (frame: ResponseFrame) => void;
  readonly reject: (cause: FaultError) => void;
  readonly call: CallState;
}

interface AttemptsOptions {
  readonly nextId: () => Id;
  /** An attempt was given up while the upstream works on it. */
  readonly onAbandoned: (id: Id, isTimeout: boolean, isMutation: boolean) => void;
}

/** The attempts of a session that the upstream has not answered yet. */
export class Attempts {
  readonly #options: AttemptsOptions;
  readonly #byId = new Map<Id, OpenAttempt>();
  readonly #byToken = new Map<Id, OpenAttempt>();

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
    call.abandon?.(true);
    return new Promise((resolve, reject) => {
      const abandon = (isTimeout: boolean): void => {
        close();
        this.#options.onAbandoned(id, isTimeout, isMutation);
        reject(lostFault('maybe', 'the attempt was abandoned'));
      };
      const close = (): void => {
        this.#byId.delete(id);
        if (token !== undefined) this.#byToken.delete(token);
        if (call.abandon === abandon) call.abandon = undefined;
      };
      const open: OpenAttempt = {
        attempt,
        call,
        resolve: (answered) => {
          close();
          resolve(answered);
        },
        reject: (cause) => {
          close();
          reject(cause);
        },
      };
      this.#byId.set(id, open);
      if (token !== undefined) this.#byToken.set(token, open);
      call.abandon = abandon;
      try {
        link.send(frame, isMutation);
        attempt.sent = 'maybe';
      } catch (cause) {
        open.reject(lostFault('no', cause instanceof Error ? cause.message : String(cause)));
      }
    });
  }

  /** False if the frame answers none of the attempts. */
  settle(frame: ResponseFrame): boolean {
    const open = this.#byId.get(frame.message.id);
    open?.resolve(frame);
    return open !== undefined;
  }

  fail(id: Id, fault: Fault): boolean {
    const open = this.#byId.get(id);
    open?.reject(new FaultError(fault));
    return open !== undefined;
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
    if (!(progress > call.lastProgress) || call.controller.signal.aborted) return undefined;
    call.lastProgress = progress;
    const { progressToken } = call;
    if (params?.['progressToken'] === progressToken) return frame;
    return frameOf({ ...frame.message, params: { ...params, progressToken } });
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

/** The same request for a further attempt. Its progress must not be mistaken for that of the first. */
function withNewId({ message }: RequestFrame, id: Id): RequestFrame {
  const meta = objectIn(message.params, '_meta');
  const params =
    meta['progressToken'] === undefined
      ? message.params
      : { ...message.params, _meta: { ...meta, progressToken: id } };
  return frameOf({ ...message, id, ...(params && { params }) }) as RequestFrame;
}

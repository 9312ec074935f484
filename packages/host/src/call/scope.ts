import { randomUUID } from 'node:crypto';
import type { CallSpan } from '../trace/tracing.js';
import type { Delivered } from './deliveries.js';

/** The `_meta` of a request: progress token, trace context, idempotency key. */
export type RequestMeta = Readonly<Record<string, unknown>>;

/** One call at work, as those who stand around its handler see it. */
export interface CallScope {
  readonly correlationId: string;
  /** The tool's name as metrics and logs know it. */
  readonly name: string;
  readonly meta: RequestMeta;
  /** Aborts when the client gives up, the time is over or the host stops. */
  readonly signal: AbortSignal;
  /** On the clock of `performance.now()`. */
  readonly deadline: number;
  /**
   * From now on a client that cancels or disconnects no longer ends this call: for a mutation that
   * is being sent. The deadline still does.
   */
  hold(): void;
  /**
   * Calls back once the answer of this call has reached the client: written to the transport completely
   * and without an error, and not cancelled. Dropped where the call is answered with anything but a
   * success or an error with the outcome `executed`, and ignored once it was answered.
   */
  onDelivered(delivered: Delivered): void;
}

type EndReason = 'cancelled' | 'deadline' | 'shutdown';

const REASONS: Readonly<Record<EndReason, readonly [text: string, name: string]>> = Object.freeze({
  cancelled: ['the client gave up', 'AbortError'],
  deadline: ['the time is over', 'TimeoutError'],
  shutdown: ['the host stops', 'AbortError'],
});

/** The state of a running call. */
export class RunningCall implements CallScope {
  readonly correlationId = randomUUID();
  readonly startedAt: number;
  readonly deadline: number;
  readonly name: string;
  readonly meta: RequestMeta;
  retries = 0;
  attempts = 0;
  /** Milliseconds that its requests took, and those of them in which an attempt was under way. */
  requestMs = 0;
  attemptMs = 0;
  exhausted = false;
  /** Whom it acts for and under which operation, where something stands around its handler. */
  account: string | undefined;
  operationId: string | undefined;
  /** Whether it has been answered. */
  isOver = false;
  /** Where somebody collects spans. */
  span: CallSpan | undefined;
  /** Answers for a handler that does not stop when the host does. */
  onShutdown: (() => void) | undefined;
  onRetry: ((afterMs: number, attempt: number) => void) | undefined;
  /** The client's own: it aborts when the client gives up. */
  readonly client: AbortSignal | undefined;
  #controller: AbortController | undefined;
  #ended: EndReason | undefined;
  #held = false;
  #delivered: Delivered[] | undefined;

  constructor(options: {
    readonly name: string;
    readonly meta: RequestMeta;
    readonly timeoutMs: number;
    readonly now: number;
    readonly client?: AbortSignal | undefined;
  }) {
    this.name = options.name;
    this.meta = options.meta;
    this.startedAt = options.now;
    this.deadline = options.now + options.timeoutMs;
    this.client = options.client;
  }

  /** Made when somebody asks for it: most handlers that are quick never do. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      this.client?.addEventListener('abort', this);
      if (this.#ended) this.end(this.#ended);
      else if (this.client?.aborted) this.handleEvent();
    }
    return this.#controller.signal;
  }

  hold(): void {
    this.#held = true;
  }

  /** A closure, because a handler's context holds it without the call. */
  readonly onDelivered = (delivered: Delivered): void => {
    if (!this.isOver) (this.#delivered ??= []).push(delivered);
  };

  /** The callbacks that were registered; the call forgets them. */
  takeDelivered(): readonly Delivered[] | undefined {
    const delivered = this.#delivered;
    this.#delivered = undefined;
    return delivered;
  }

  /** Ends the work for a reason that is not the handler's. */
  end(why: EndReason): void {
    this.#ended ??= why;
    const isClients = why === 'cancelled' && this.client?.aborted;
    this.#controller?.abort(isClients ? this.client?.reason : new DOMException(...REASONS[why]));
  }

  /** The call is answered; nothing may keep it in memory. */
  close(): void {
    this.isOver = true;
    this.onRetry = undefined;
    this.onShutdown = undefined;
    if (this.#controller) this.client?.removeEventListener('abort', this);
  }

  /** The client gave up. The call itself is the listener: one object less for each. */
  handleEvent(): void {
    if (!this.#held) this.end('cancelled');
  }
}

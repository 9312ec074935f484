import { randomUUID } from 'node:crypto';
import type { CallSpan } from '../trace/tracing.js';

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
}

export type EndReason = 'cancelled' | 'deadline' | 'shutdown';

/** The state of a running call. */
export class RunningCall implements CallScope {
  readonly correlationId = randomUUID();
  readonly startedAt: number;
  readonly deadline: number;
  readonly name: string;
  readonly meta: RequestMeta;
  retries = 0;
  attempts = 0;
  exhausted = false;
  /** Whether the log has a `timeout_abort` of this call's deadline already. */
  timeoutTold = false;
  /** Set by the first end that was not the handler's own. */
  ended: EndReason | undefined;
  /** Where somebody collects spans. */
  span: CallSpan | undefined;
  onRetry: ((afterMs: number, attempt: number) => void) | undefined;
  /** Told when the call is to stop, whatever the handler does. */
  onEnd: (() => void) | undefined;
  readonly #client: AbortSignal | undefined;
  #held = false;
  #controller: AbortController | undefined;

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
    this.#client = options.client;
    options.client?.addEventListener('abort', this);
    if (options.client?.aborted) this.handleEvent();
  }

  /** Made when somebody asks for it: most handlers that are quick never do. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.ended !== undefined) this.#controller.abort(reasonFor(this.ended, this.#client));
    }
    return this.#controller.signal;
  }

  hold(): void {
    this.#held = true;
  }

  /** Ends the call for a reason that is not the handler's. */
  end(reason: EndReason): void {
    if (this.ended !== undefined) return;
    this.ended = reason;
    this.#controller?.abort(reasonFor(reason, this.#client));
    this.onEnd?.();
  }

  /** The call is over; nothing may keep it in memory. */
  close(): void {
    this.onEnd = undefined;
    this.onRetry = undefined;
    this.#client?.removeEventListener('abort', this);
  }

  /** The client gave up. The call itself is the listener: one object less for each. */
  handleEvent(): void {
    if (!this.#held) this.end('cancelled');
  }
}

function reasonFor(ended: EndReason, client: AbortSignal | undefined): unknown {
  if (ended === 'cancelled' && client?.aborted) return client.reason;
  const name = ended === 'deadline' ? 'TimeoutError' : 'AbortError';
  const text = {
    cancelled: 'the client gave up',
    deadline: 'the time is over',
    shutdown: 'the host stops',
  };
  return new DOMException(text[ended], name);
}

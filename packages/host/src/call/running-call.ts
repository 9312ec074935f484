import { randomUUID } from 'node:crypto';
import type { ServerContext } from '@modelcontextprotocol/server';
import type { DelegatingCall, Schedule } from '@toolkeel/contract';
import type { CallSpan } from '../tracing.js';
import type { OnDelivered } from './deliveries.js';
import { CallStats } from './events.js';

/** The `_meta` of a request: progress token, trace context, idempotency key. */
export type RequestMeta = Readonly<Record<string, unknown>>;

type McpRequest = ServerContext['mcpReq'];

/** What a call needs of its request: a part of the SDK's context. */
export interface CallRequest {
  readonly mcpReq: Pick<McpRequest, 'method'> & {
    /** Aborts when the client cancels. Absent if the caller cancels the call itself. */
    readonly signal?: AbortSignal | undefined;
    readonly _meta?: McpRequest['_meta'] | undefined;
    /** Absent if the client does not receive notifications. */
    readonly notify?: McpRequest['notify'];
  };
  readonly http?: Pick<NonNullable<ServerContext['http']>, 'req'> | undefined;
  /** Set by a tool that calls another one, never by a client. */
  readonly schedule?: Schedule | undefined;
  readonly onBehalfOf?: readonly DelegatingCall[] | undefined;
}

/** A call in flight, as middleware sees it. */
export interface CallContext {
  readonly correlationId: string;
  /** The tool's name in metrics and logs. */
  readonly name: string;
  readonly meta: RequestMeta;
  /** Aborts when the client cancels, the deadline passes or the host stops. */
  readonly signal: AbortSignal;
  /** On the clock of `performance.now()`. */
  readonly deadline: number;
  /** When the call is to be executed, if not now. */
  readonly schedule?: Schedule | undefined;
  /** The calls of tools that act through this one, whose rules and limits apply too. */
  readonly onBehalfOf?: readonly DelegatingCall[] | undefined;
  /**
   * Lets this call continue if the client cancels or disconnects: for a mutation that is being sent. The
   * deadline still applies.
   */
  hold(): void;
  /**
   * Calls back once the result has reached the client: completely written to the transport without an
   * error, and not cancelled. Only for a success or an error with the outcome `executed`. Ignored after
   * the call has ended.
   */
  onDelivered(callback: OnDelivered): void;
}

type AbortReason = 'cancelled' | 'deadline' | 'shutdown';

const REASONS: Readonly<Record<AbortReason, readonly [message: string, name: string]>> =
  Object.freeze({
    cancelled: ['the client cancelled the call', 'AbortError'],
    deadline: ['the deadline of the call has passed', 'TimeoutError'],
    shutdown: ['the host is stopping', 'AbortError'],
  });

/** The state of a call in flight. */
export class RunningCall implements CallContext {
  readonly correlationId = randomUUID();
  readonly startedAt: number;
  readonly deadline: number;
  readonly name: string;
  readonly meta: RequestMeta;
  readonly stats: CallStats;
  readonly schedule: Schedule | undefined;
  readonly onBehalfOf: readonly DelegatingCall[] | undefined;
  /** The signal of the request, which aborts when the client cancels. */
  readonly client: AbortSignal | undefined;
  /** The start, in Unix milliseconds. */
  readonly at = Date.now();
  isMutation = false;
  account: string | undefined;
  operationId: string | undefined;
  isEnded = false;
  /** Set if an OpenTelemetry SDK is registered. */
  span: CallSpan | undefined;
  /** Ends the call for a handler that ignores its signal during a shutdown. */
  onShutdown: (() => void) | undefined;
  onRetry: ((afterMs: number, attempt: number) => void) | undefined;
  #controller: AbortController | undefined;
  #abortReason: AbortReason | undefined;
  #isHeld = false;
  #deliveryCallbacks: OnDelivered[] | undefined;

  constructor(options: {
    readonly name: string;
    readonly meta: RequestMeta;
    readonly timeoutMs: number;
    readonly now: number;
    readonly client?: AbortSignal | undefined;
    readonly reportsEvents?: boolean | undefined;
    readonly schedule?: Schedule | undefined;
    readonly onBehalfOf?: readonly DelegatingCall[] | undefined;
  }) {
    this.schedule = options.schedule;
    this.onBehalfOf = options.onBehalfOf;
    this.name = options.name;
    this.meta = options.meta;
    this.startedAt = options.now;
    this.deadline = options.now + options.timeoutMs;
    this.client = options.client;
    this.stats = new CallStats(options.name, options.reportsEvents, options.now);
  }

  /** Created on first access, because most quick handlers never read it. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      this.client?.addEventListener('abort', this);
      if (this.#abortReason) this.abort(this.#abortReason);
      else if (this.client?.aborted) this.handleEvent();
    }
    return this.#controller.signal;
  }

  hold(): void {
    this.#isHeld = true;
  }

  /** Bound, because a handler's context contains it without the call. */
  readonly onDelivered = (callback: OnDelivered): void => {
    if (!this.isEnded) (this.#deliveryCallbacks ??= []).push(callback);
  };

  /** Returns and removes the registered callbacks. */
  takeDeliveryCallbacks(): readonly OnDelivered[] | undefined {
    const callbacks = this.#deliveryCallbacks;
    this.#deliveryCallbacks = undefined;
    return callbacks;
  }

  /** Aborts the handler's signal. */
  abort(reason: AbortReason): void {
    this.#abortReason ??= reason;
    const isByClient = reason === 'cancelled' && this.client?.aborted;
    this.#controller?.abort(
      isByClient ? this.client?.reason : new DOMException(...REASONS[reason]),
    );
  }

  /** Marks the call as ended and releases everything that would keep it in memory. */
  close(): void {
    this.isEnded = true;
    this.onRetry = undefined;
    this.onShutdown = undefined;
    if (this.#controller) this.client?.removeEventListener('abort', this);
  }

  /** The `abort` listener of the client's signal: the call itself, which saves a closure per call. */
  handleEvent(): void {
    if (!this.#isHeld) this.abort('cancelled');
  }
}

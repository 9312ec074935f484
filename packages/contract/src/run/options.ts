import type { Fault } from '@toolkeel/kernel';
import type { ErrorCode } from '../codes/table.js';
import type { Envelope } from '../envelope/envelope.js';
import type { ErrorInput } from '../envelope/error.js';
import type { IdempotencyMeta, RateLimitMeta, RunProfile } from '../envelope/meta.js';
import type { PageTokens } from '../page-tokens.js';
import type { ToolContext } from '../tool/context.js';
import type { Controls } from '../tool/controls.js';
import type { Paging } from '../tool/result.js';
import type { AccountId, Arguments } from '../tool/spec.js';
import type { Tool } from '../tool/tool.js';

interface SettledMeta {
  readonly rateLimit?: RateLimitMeta | undefined;
  /** Set by a journal that replays. */
  readonly idempotency?: IdempotencyMeta | undefined;
}

export interface SettledSuccess extends SettledMeta {
  readonly ok: true;
  /** Matches the tool's output schema, and is plain JSON. */
  readonly data: unknown;
  readonly paging?: Paging | undefined;
}

export interface SettledFailure<Code extends ErrorCode = ErrorCode> extends SettledMeta {
  readonly ok: false;
  readonly error: ErrorInput<Code>;
  /** The partial result. */
  readonly data?: unknown;
  /** The kernel's fault, for the middleware. Never part of an envelope. */
  readonly fault?: Fault | undefined;
}

/** The result of a handler, before it becomes an envelope. Plain JSON except `fault` and `after`. */
export type Settled = SettledSuccess | SettledFailure;

/** A call whose arguments have been accepted. */
export interface AcceptedCall {
  readonly tool: Tool;
  readonly args: Arguments;
  readonly controls: Controls;
  /** The configured account name, which policy rules refer to. */
  readonly account: string;
  /**
   * The upstream's account id, which the journal records, or a failure if it cannot be resolved.
   * Resolved at most once.
   */
  readonly accountId: () => Promise<AccountId | SettledFailure>;
  readonly correlationId: string;
  /**
   * Runs the tool's check: a failure, a result, or undefined to continue. It sends nothing and runs at
   * most once. A middleware calls it before it stores the call, requests approval or consumes a
   * policy limit, and acts on the result; otherwise the check runs directly before the handler.
   */
  readonly check: () => Promise<Settled | undefined>;
}

/**
 * Runs the handler with the given additions to its context. Never rejects. After the call was stopped
 * the handler no longer starts, because the caller has been told that it did not.
 */
export type Next = (
  extra?: Partial<Pick<ToolContext, 'operation' | 'deadline' | 'signal' | 'onDelivered'>>,
) => Promise<Settled>;

/**
 * Code between the accepted arguments and the handler, such as policy or journal. Its result is
 * validated against the tool's schemas, unless it is the handler's own. It keeps running after the call
 * was stopped, so that a journal can record how the handler ended.
 */
export type Middleware = (call: AcceptedCall, next: Next) => Promise<Settled>;

/**
 * Decides about a call before its middleware, its check and its handler: a failure ends the call. Unlike
 * a middleware it keeps a synchronous tool synchronous.
 */
export type Admit = (call: AcceptedCall) => SettledFailure | undefined;

export interface RunOptions {
  readonly correlationId?: string | undefined;
  /**
   * Ends the call with `cancelled`, whatever the handler does. The handler gets the same signal, unless
   * the middleware passes another one to `next`. A host with a journal does that for mutations, so that
   * a client that disconnects does not abort a request that is being sent.
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * Ends the call with `timeout`, whatever the handler does: milliseconds on `clock`. An earlier
   * deadline passed to `next` leaves the handler time to report its own failure.
   */
  readonly deadline?: number | undefined;
  /** Start of the call on `clock`, if it was before this run. Only for `meta.elapsed_ms`. */
  readonly startedAt?: number | undefined;
  readonly progress?: ToolContext['progress'] | undefined;
  /** Default: `readonly`. */
  readonly profile?: RunProfile | undefined;
  /** Default: the process clock. */
  readonly clock?: RunClock | undefined;
  /** Maximum size of the JSON in UTF-8 bytes. Default: 48 KiB. */
  readonly byteBudget?: number | undefined;
  /** Default: tokens that are valid until the process ends. */
  readonly tokens?: PageTokens | undefined;
  readonly admit?: Admit | undefined;
  readonly middleware?: Middleware | undefined;
  /** Checks the arguments only; see `CheckContext`. For runs that do not start the handler. */
  readonly argumentsOnly?: boolean;
  /** Additions to the handler's context without a middleware, as a middleware passes to `next`. */
  readonly extraContext?: Parameters<Next>[0];
  /**
   * Called if the handler does not settle immediately, with a function that ends the call early, for a
   * host that shuts down. Only for calls with a deadline or a signal.
   */
  readonly onPending?: (end: (failure: SettledFailure) => void) => void;
  /** Receives the result of the handler or middleware if the call was stopped before. */
  readonly onLate?: (settled: Settled) => void;
  /** Overrides `meta.retry_count`. Receives the retries that the handler noted, the default. */
  readonly retryCount?: ((noted: number) => number) | undefined;
  /**
   * Receives unexpected causes, which never appear in the envelope: thrown values, undeclared codes,
   * results that do not match their schema, invalid figures for `meta`. Also called for errors that
   * occur after the call was stopped.
   */
  readonly onUnexpected?: (cause: unknown, correlationId: string) => void;
}

/** An envelope and its JSON, which is serialized once for the byte budget and the text block. */
export interface ToolRun<Data = unknown> {
  readonly envelope: Envelope<Data>;
  readonly text: string;
  /** Length of `text` in UTF-8. */
  readonly bytes: number;
}

/** The source of time of a run. Compatible with the kernel's `Clock`. */
export interface RunClock {
  /** Monotonic milliseconds; deadlines are on this clock. */
  now(): number;
  setTimer(delayMs: number, fire: () => void): unknown;
  clearTimer(timer: unknown): void;
}

/** The process clock. Delays are rounded up, so that a deadline is never early. */
export const processClock: RunClock = {
  now: () => performance.now(),
  setTimer: (delayMs, fire) => setTimeout(fire, Math.ceil(delayMs)),
  clearTimer: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

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
  /** Accepted by the tool's own schema, and JSON throughout. */
  readonly data: unknown;
  readonly paging?: Paging | undefined;
}

export interface SettledFailure<Code extends ErrorCode = ErrorCode> extends SettledMeta {
  readonly ok: false;
  readonly error: ErrorInput<Code>;
  /** What was achieved all the same. */
  readonly data?: unknown;
  /** What the kernel said, for whoever stands around the handler. It never reaches an answer. */
  readonly fault?: Fault | undefined;
}

/** How a handler ended, before an envelope is made of it. Plain JSON but for `fault` and `after`. */
export type Settled = SettledSuccess | SettledFailure;

/** A call whose arguments have been accepted. */
export interface AcceptedCall {
  readonly tool: Tool;
  readonly args: Arguments;
  readonly controls: Controls;
  /** As it is configured: what rules speak of. */
  readonly account: string;
  /**
   * The account as the upstream knows it, which the journal records; a failure where it cannot be
   * resolved, and then nothing was sent. Resolved once, however often it is asked.
   */
  readonly accountId: () => Promise<AccountId | SettledFailure>;
  readonly correlationId: string;
  /**
   * What the tool's own check makes of it: a refusal, an answer, or undefined where it may go on. It
   * sends nothing and runs once, however often it is asked. To be asked before the call is stored, a
   * person is bothered or a budget is touched. Whoever asks sees to what it says; where nobody does,
   * it runs directly before the handler.
   */
  readonly check: () => Promise<Settled | undefined>;
}

/**
 * Runs the handler, never rejects. What is given here is added to the handler's context. Once the
 * call has been stopped, the handler is not begun any more: the caller has been told so.
 */
export type Next = (
  extra?: Partial<Pick<ToolContext, 'operation' | 'deadline' | 'signal' | 'onDelivered'>>,
) => Promise<Settled>;

/**
 * Policy, journal: whatever stands between the accepted arguments and the handler. What it answers
 * is held against the tool's schemas, unless it is what the handler gave. When the call is stopped
 * it goes on unheard, so that a journal still learns how the handler ended.
 */
export type Middleware = (call: AcceptedCall, next: Next) => Promise<Settled>;

export interface RunOptions {
  readonly correlationId?: string | undefined;
  /**
   * Ends the call: it answers `cancelled`, whatever the handler does. The handler gets the same
   * signal, unless `around` gives it another one through `next`. A host that journals mutations
   * does so once they are sending, because a client that leaves must not abort them half way.
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * When the call ends with `timeout`, whatever the handler does: milliseconds on `clock`. A handler
   * that gets an earlier one through `next` has time to say itself how far it came.
   */
  readonly deadline?: number | undefined;
  /** When the call began, on `clock`, where that was before this run. Only `meta.elapsed_ms` asks. */
  readonly startedAt?: number | undefined;
  readonly progress?: ToolContext['progress'] | undefined;
  /** Default: `readonly`. */
  readonly profile?: RunProfile | undefined;
  /** Default: the process's own. */
  readonly clock?: RunClock | undefined;
  /** In UTF-8 bytes of the JSON text. Default: 48 KiB. */
  readonly byteBudget?: number | undefined;
  /** Default: tokens that last as long as this process. */
  readonly tokens?: PageTokens | undefined;
  readonly middleware?: Middleware | undefined;
  /** The tool's check judges the arguments alone: see `CheckContext`. For runs that never reach the handler. */
  readonly argumentsOnly?: boolean;
  /** What the handler is given where nothing stands around it, as `around` does through `next`. */
  readonly extraContext?: Parameters<Next>[0];
  /**
   * Called when the handler is not done at once, with what ends the call before it is: for a host
   * that stops. Only for a call that has a deadline or a signal.
   */
  readonly onPending?: (end: (failure: SettledFailure) => void) => void;
  /** What the work brought after the call had been ended. */
  readonly onLate?: (settled: Settled) => void;
  /** For a host that counts retries itself. Gets what the handler noted, which is the default. */
  readonly retryCount?: ((noted: number) => number) | undefined;
  /**
   * The only place that a cause goes to: thrown values, undeclared codes, answers that do not match
   * their schema, figures for `meta` that make no sense. Nothing of it is in the envelope. A call
   * that was stopped may still report here what its handler did later.
   */
  readonly onUnexpected?: (cause: unknown, correlationId: string) => void;
}

/** An answer and its JSON, which is made once: for the byte budget and for the text block. */
export interface ToolRun<Data = unknown> {
  readonly envelope: Envelope<Data>;
  readonly text: string;
  /** Length of `text` in UTF-8. */
  readonly bytes: number;
}

/** Time as a run sees it. The kernel's `Clock` fits, and so does its virtual one. */
export interface RunClock {
  /** Milliseconds that only go forward; deadlines are on this clock. */
  now(): number;
  setTimer(delayMs: number, fire: () => void): unknown;
  clearTimer(timer: unknown): void;
}

/** The process's own clock. A timer is rounded up: a deadline must not come early. */
export const processClock: RunClock = {
  now: () => performance.now(),
  setTimer: (delayMs, fire) => setTimeout(fire, Math.ceil(delayMs)),
  clearTimer: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

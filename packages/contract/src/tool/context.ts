import type { SendToken } from './send.js';
import type { Absence, OpenAct, Others, Reconciliation } from './spec.js';

/** Progress of a call. */
export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** Read-back of a step with an unknown outcome. */
export interface StepReadBack<T> extends Absence {
  readonly readBack: (open: OpenAct) => Promise<Reconciliation<T>>;
}

/** The journal's operation, as the handler sees it. */
export interface ToolOperation {
  readonly id: string;
  /** The account: the upstream's id, if the tool resolves one. */
  readonly account: string;
  /**
   * Records durably that the operation is being sent, then runs `write`. The record includes policy
   * limits, the policy re-check and the release of compensated operations; from then on a cancelled
   * client no longer ends the call. Inside a step it records that step.
   *
   * A tool with `send: 'explicit'` makes its write request only in here. For a `once` tool a second call
   * is allowed only after a fault that proves that nothing was executed: `sent: 'no'`, or a rejection
   * of the upstream. In automatic mode the operation is recorded already, and this only provides the
   * token. With `signal`, an attempt that was abandoned during the record does not start its write.
   */
  readonly send: <T>(
    write: (token: SendToken) => Promise<T>,
    options?: { readonly signal?: AbortSignal | undefined },
  ) => Promise<T>;
  /**
   * Runs a step of a longer operation, or returns its stored JSON result if it has completed. `send`
   * inside it belongs to the step. A step with an unknown outcome is read back; without `reconcile` it
   * stays unknown and the operation does not continue. Requires `send: 'explicit'`.
   */
  readonly step: <T>(
    name: string,
    run: () => Promise<T>,
    reconcile?: StepReadBack<T>,
  ) => Promise<T>;
  /** Other operations since this one started, for resuming it. */
  readonly others: Others;
}

/** The context of a check. */
export interface CheckContext extends Pick<
  ToolContext,
  'signal' | 'deadline' | 'correlationId' | 'account'
> {
  /**
   * Check the arguments only, as for an edit during approval: the checking process may lack the
   * credentials of the executing server.
   */
  readonly argumentsOnly?: true;
}

/** The context of a handler. */
export interface ToolContext<Cursor = unknown> {
  readonly signal: AbortSignal;
  /**
   * Deadline on the run's monotonic clock (`performance.now()`), the clock of the kernel's deadlines;
   * Infinity without one.
   */
  readonly deadline: number;
  readonly correlationId: string;
  /** The account of the call. */
  readonly account?: string;
  readonly progress: (progress: Progress) => void;
  /** Counts one retry of an upstream request, for `meta.retry_count`. */
  readonly noteRetry: () => void;
  /** Whether a write that was certainly not sent may be retried: false for a `once` tool without `retryUnsent`. */
  readonly retryUnsent?: boolean;
  /** The cursor from a verified page token; absent on the first page. */
  readonly cursor?: Cursor;
  /** Present for a mutation with a journal. */
  readonly operation?: ToolOperation;
  /** Registers a callback for the delivery of the result; absent if the transport does not report it. */
  readonly onDelivered?: (delivered: () => void) => void;
}

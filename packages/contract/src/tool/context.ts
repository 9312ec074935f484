import type { SendToken } from './send.js';
import type { Absence, OpenAct, Others, Reconciliation } from './spec.js';

/** How far a call is, for a client that waits. */
export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** How to find out whether a step happened that nobody knows the end of. */
export interface StepReadBack<T> extends Absence {
  readonly readBack: (open: OpenAct) => Promise<Reconciliation<T>>;
}

/** The journal's record of a mutation, as its handler sees it. */
export interface ToolOperation {
  readonly id: string;
  /** The account that it acts for: the upstream's own id where the tool resolves one. */
  readonly account: string;
  /**
   * Records durably that the operation is being sent, then runs `write`. Policy limits, the policy
   * re-check and the release of counterparts happen at that record; from then on a client that cancels
   * no longer ends the call. Inside a step it records that step.
   *
   * A tool with `send: 'explicit'` makes its write request in here and nowhere else. Of a tool that acts
   * once it may be called again only after a fault that proves that nothing was executed: `sent: 'no'`,
   * or a refusal of the upstream. In automatic mode the operation is recorded already, and this only
   * hands out the token. With `signal` an attempt that was given up while the record was written does
   * not begin its write.
   */
  readonly send: <T>(
    write: (token: SendToken) => Promise<T>,
    options?: { readonly signal?: AbortSignal | undefined },
  ) => Promise<T>;
  /**
   * Runs a step of a longer operation, or gives its stored result, which is JSON, if it was done
   * already. `send` inside of it belongs to the step. One that was sent and whose outcome is unknown
   * is read back; without that it stays unknown, and the operation does not go on. Needs
   * `send: 'explicit'`.
   */
  readonly step: <T>(
    name: string,
    run: () => Promise<T>,
    reconcile?: StepReadBack<T>,
  ) => Promise<T>;
  /** What else was done since it began, for whoever goes on with it. */
  readonly others: Others;
}

/** What a check sees of a call. */
export interface CheckContext extends Pick<
  ToolContext,
  'signal' | 'deadline' | 'correlationId' | 'account'
> {
  /**
   * Only the arguments are judged, as for an approver's edit: the process that checks may lack the
   * credentials of the server that executes.
   */
  readonly argumentsOnly?: true;
}

/** What the surroundings of a call give to its handler. */
export interface ToolContext<Cursor = unknown> {
  readonly signal: AbortSignal;
  /**
   * Milliseconds on the clock of the run, which is monotonic (`performance.now()`), as the `deadline` of
   * guards is; Infinity where there is none.
   */
  readonly deadline: number;
  readonly correlationId: string;
  /** The account that the call was accepted for. */
  readonly account?: string;
  readonly progress: (progress: Progress) => void;
  /** Counts one retry of an upstream request, for `meta.retry_count`. */
  readonly noteRetry: () => void;
  /** Where the previous page ended, read from a token that we signed; absent on the first page. */
  readonly cursor?: Cursor;
  /** Present while the journal watches over a mutation. */
  readonly operation?: ToolOperation;
  /** Calls back once the answer of this call has reached the client; absent where no transport tells. */
  readonly onDelivered?: (delivered: () => void) => void;
}

import type { Envelope } from './envelope/envelope.js';
import type { Mode } from './envelope/meta.js';
import type { PackRecords } from './records.js';
import type { ToolContext } from './tool/context.js';

/** An operation of the journal, as a pack sees it. Sensitive arguments are masked. */
export interface PackOperation {
  readonly id: string;
  readonly tool: string;
  readonly account: string;
  /** `succeeded`, `unknown`, `awaiting_approval`, … */
  readonly state: string;
  readonly outcome?: 'executed' | 'not_executed' | 'unknown';
  /** `ok`, or the error code of a repeat. */
  readonly code?: string;
  /** ISO 8601, like all times here. */
  readonly created_at: string;
  readonly settled_at?: string;
  /** As executed: with the edits of an operator. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly approval?: {
    readonly rule: string;
    readonly explanation: string;
    readonly requested_at: string;
    readonly expires_at: string;
    readonly edited: boolean;
    /** The time of a scheduled operation. */
    readonly scheduled_for?: string;
    readonly decision?: 'approved' | 'rejected' | undefined;
    readonly decided_by?: string;
    readonly reason?: string;
  };
  readonly answer?: { readonly data?: unknown; readonly error?: unknown };
}

export interface PackOperationFilter {
  readonly states?: readonly string[];
  readonly tools?: readonly string[];
  readonly account?: string;
  /** Created at or after, in Unix milliseconds. */
  readonly since?: number;
  /** Settled at or after. */
  readonly settledSince?: number;
  /** Default: 100. `before` is the id of the last operation of the previous page. */
  readonly limit?: number;
  readonly before?: string;
}

export interface PackOperations {
  /** Newest first. */
  readonly list: (filter: PackOperationFilter) => Promise<readonly PackOperation[]>;
  readonly show: (id: string) => Promise<PackOperation | undefined>;
  /**
   * Ends an operation that waits for its time or for approval, without executing it. False: it is being
   * executed or has ended. An agent may give up its own call; it can never approve one.
   */
  readonly withdraw: (id: string) => Promise<boolean>;
}

/** When a scheduled call may be executed, in Unix milliseconds on the clock of the database. */
export interface Schedule {
  readonly at: number;
  /** After this time it is no longer executed. */
  readonly expiresAt: number;
}

/** A call of a tool that acts through others. */
export interface DelegatingCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

export interface PackCallOptions extends Partial<Pick<ToolContext, 'signal' | 'onDelivered'>> {
  readonly idempotencyKey?: string;
  /** On the run's monotonic clock. Default: the time limit of the tool. */
  readonly deadline?: number;
  /**
   * Executes the call at that time, by whichever process is alive then, and answers now: with
   * `idempotency_in_flight` and the operation id, or with `approval_required` if an operator has to
   * approve it, which makes it wait for both.
   */
  readonly schedule?: Schedule;
  /**
   * The call that asked for this one, if it is not the running one: its rules and limits apply too, now
   * and when the operation is executed later.
   */
  readonly onBehalfOf?: DelegatingCall;
}

/** What a host with a journal provides to packs in the `workflow` profile. */
export interface PackWorkflow {
  readonly mode: Mode;
  readonly approvalMode: boolean;
  readonly records: PackRecords;
  readonly operations: PackOperations;
  /**
   * Calls a tool of this server as a client would: with its schema, the policy and the journal. For tools
   * that act through other tools; see `delegates`. Never rejects; undefined if the server has no such
   * tool.
   */
  readonly call: (
    tool: string,
    args: Readonly<Record<string, unknown>>,
    options?: PackCallOptions,
  ) => Promise<Envelope | undefined>;
}

import type { AuditRow } from './audit.js';
import type { Arguments, Operation, TextPreview } from './operations.js';

export type ActionName =
  | 'approve'
  | 'edit' // changes the arguments; still awaits approval
  | 'edit_and_approve'
  | 'reject'
  | 'withdraw' // ends an approved one that is not executed yet
  | 'check_upstream' // reads back an unknown operation now
  | 'it_happened'
  | 'it_did_not_happen';

export interface Action {
  readonly action: ActionName;
  readonly operation_id: string;
  /** `edit`, `edit_and_approve`: new values by argument name, and names to remove. */
  readonly changes?: Arguments;
  readonly remove?: readonly string[];
  /** At most 500 characters. The agent gets the reason of `reject`. Required for `it_did_not_happen`. */
  readonly reason?: string;
  /** `it_happened`: the result that repeats receive, such as `{ "id": "…" }`. */
  readonly data?: unknown;
}

/** POST /api/preview: what the action would do. Changes nothing. Body: `Action`. */
export interface Preview {
  readonly action: ActionName;
  readonly operation_id: string;
  /** Send it with the action. */
  readonly version: string;
  readonly operation: Operation;
  /** The exact arguments that would be executed, and their hash; sensitive values are masked. */
  readonly arguments?: Arguments;
  readonly hash?: string;
  readonly text?: TextPreview;
  /** `edit…`: the arguments before. */
  readonly arguments_before?: Arguments;
  /** What happens, as sentences, in order. */
  readonly consequences: readonly string[];
  /** What could still stop the execution, each checked now. */
  readonly checks: readonly Check[];
  /** The audit entry that it creates. */
  readonly audit: {
    readonly kind: string;
    readonly actor: string;
    readonly operation_id: string;
    readonly tool: string;
    readonly account: string;
    readonly detail: Readonly<Record<string, unknown>>;
  };
  /** Why it is not possible. The button stays off; POST /api/actions would answer 409. */
  readonly refused?: string;
}

export interface Check {
  readonly by:
    | 'arguments' // the schema and the tool's own checks
    | 'policy'
    | 'policy_limit'
    | 'circuit'
    | 'retry_budget'
    | 'rate_limit'
    | 'schedule'
    | 'process' // a live process has the tool
    | 'expiry';
  /**
   * `blocks`: it would stop or delay the execution now. `warns`: it would be sent, and is likely to fail.
   * `unknown`: could not be checked here.
   */
  readonly result: 'passes' | 'warns' | 'blocks' | 'unknown';
  readonly text: string;
  readonly until?: string;
}

/** POST /api/actions: executes what a preview showed. 409 `state_moved` if the state is another one now. */
export interface ActRequest extends Action {
  readonly version: string;
}

export interface ActResponse {
  readonly action: ActionName;
  /** After the action. */
  readonly operation: Operation;
  /** The result as a sentence: "Approved. A live process executes it now." */
  readonly text: string;
  /** `check_upstream`: whether it is settled now. */
  readonly settled?: boolean;
  /** The audit entry, if one was written. */
  readonly audit?: AuditRow;
}

export interface Difference {
  /** `state`, `arguments`, `decision`, `policy`, `circuit`, … */
  readonly field: string;
  readonly was: string;
  readonly is: string;
}

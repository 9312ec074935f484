/** A state change of an operation, for logs, counters and the console. */
export interface JournalEvent {
  readonly type:
    | 'operation_unknown'
    | 'operation_reconciled'
    | 'approval_requested'
    | 'approval_decided'
    | 'idempotent_replay';
  readonly operationId: string;
  readonly tool: string;
  readonly account: string;
  readonly correlationId: string;
  /** The decision or the established outcome: `approved`, `executed`, … */
  readonly result?: string;
  /** The operator, `read-back`, `handler` for a late result, or the policy rule that required approval. */
  readonly by?: string;
  /** An operator decided it in another process, such as the CLI. */
  readonly elsewhere?: true;
}

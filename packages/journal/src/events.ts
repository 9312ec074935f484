/** A state change of an operation, for logs, counters and the console. */
export interface JournalEvent {
  readonly type:
    | 'operation_unknown'
    | 'operation_reconciled'
    | 'approval_requested'
    | 'approval_decided'
    | 'approved_not_executed'
    | 'unknown_not_reconciled'
    | 'idempotent_replay';
  readonly operationId: string;
  readonly tool: string;
  readonly account: string;
  readonly correlationId: string;
  /** The decision, the established outcome or a `BlockedReason`: `approved`, `executed`, … */
  readonly result?: string;
  /** The operator, `read-back`, `handler` for a late result, or the policy rule that required approval. */
  readonly by?: string;
  /** An operator decided it in another process, such as the CLI. */
  readonly elsewhere?: true;
}

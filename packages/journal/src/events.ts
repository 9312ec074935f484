/** Something that a log, a counter or a console wants to know of. */
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
  /** What was decided or found out: `approved`, `executed`, … */
  readonly result?: string;
  /** Who: a person's name, `read-back`, the rule that asked. */
  readonly by?: string;
  /** A person decided it in another process, such as a command line. */
  readonly elsewhere?: true;
}

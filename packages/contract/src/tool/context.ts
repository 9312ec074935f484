import type { Absence, OpenAct, Others, Reconciliation } from './spec.js';

/** How far a call is, for a client that waits. */
export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** Proof that this process still owned the operation when it began to send. */
export interface Fence {
  readonly token: number;
}

/** How to find out whether a step happened that nobody knows the end of. */
export interface StepReadBack<T> extends Absence {
  readonly readBack: (open: OpenAct) => Promise<Reconciliation<T>>;
}

/** The journal's record of a mutation, as its handler sees it. */
export interface ToolOperation {
  readonly id: string;
  /** To be awaited directly before the first byte of the write; reads that come first do not count. */
  readonly sending: () => Promise<Fence>;
  /**
   * Runs a step of a longer operation, or gives its stored result, which is JSON, if it was done
   * already. `sending` inside of it belongs to the step. One that was sent and whose end nobody knows
   * is read back; without that it stays unknown, and the operation does not go on.
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
export type CheckContext = Pick<ToolContext, 'signal' | 'deadline' | 'correlationId' | 'account'>;

/** What the surroundings of a call give to its handler. */
export interface ToolContext<Cursor = unknown> {
  readonly signal: AbortSignal;
  /** Milliseconds on the clock of the run; Infinity where there is none. */
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
}

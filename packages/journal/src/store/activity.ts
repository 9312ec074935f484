import type { FailureOutcome } from '@toolkeel/contract';

/** One tool call, read or mutation, for the console and reports. */
export interface CallRow {
  readonly correlationId: string;
  readonly tool: string;
  readonly account?: string | undefined;
  readonly code: string;
  readonly at: number;
  readonly elapsedMs: number;
  readonly attempts: number;
  /** The part of `elapsedMs` spent on backoff and queueing, summed over concurrent requests. */
  readonly waitedMs: number;
  readonly operationId?: string | undefined;
  /** What is known of a failed mutation. */
  readonly outcome?: FailureOutcome | undefined;
  /** The id of the process that made the call. */
  readonly process?: string | undefined;
  /** Attempts and waits, bounded JSON without arguments. Absent for one successful attempt. */
  readonly timeline?: string | undefined;
  /** The redacted error that the caller received, bounded JSON. Absent for a success. */
  readonly failure?: string | undefined;
}

/** A call as stored. `seq` grows in the order of recording. */
export type StoredCall = CallRow & { readonly seq: number };

export interface CallFilter {
  readonly since?: number;
  readonly until?: number;
  /** Only calls with a smaller `seq`; the last one of the previous page. */
  readonly before?: number;
  /** Only calls with a larger `seq`. Together with `order: 'oldest'` it follows the table. */
  readonly after?: number;
  readonly seq?: number;
  readonly tool?: string;
  readonly codes?: readonly string[];
  /** Neither `ok` nor `approval_required`, which waits for a person. */
  readonly failed?: true;
  readonly outcome?: FailureOutcome;
  readonly process?: string;
  readonly operationId?: string;
  readonly correlationId?: string;
  readonly minAttempts?: number;
  readonly minElapsedMs?: number;
  /** A part of the tool, the code, the account or one of the ids; letter case is ignored. */
  readonly text?: string;
  /** Includes `timeline` and `failure`. */
  readonly details?: true;
  /** Default: newest first. */
  readonly order?: 'oldest';
  /** Default: 100. */
  readonly limit?: number;
}

/** What a process reports about itself. */
export interface ProcessReport {
  readonly id: string;
  readonly startedAt: number;
  /** JSON that rarely changes: name, address, tools. Absent: as in the last report. */
  readonly info?: string;
  /** JSON that changes: upstreams and calls in flight. Absent: as in the last report. */
  readonly state?: string;
  /** The process stops in order; this is its last report. */
  readonly ended?: true;
}

/** A process as stored. Times are on the store's clock, except `startedAt`. */
export interface StoredProcess {
  readonly id: string;
  readonly startedAt: number;
  readonly reportedAt: number;
  readonly endedAt?: number;
  readonly info: string;
  readonly state: string;
}

/** Ended and lost processes are kept this long. */
export const PROCESS_RETENTION_MS = 86_400_000;
/** More are not listed: a client that starts a server for every question leaves many. */
export const MAX_PROCESSES = 500;

import type { CircuitState, FaultKind } from './live.js';
import type { Operation } from './operations.js';

/**
 * GET /api/calls?…: newest first. Parameters, all optional:
 * `q` (part of tool, code, account, correlation id or operation id), `tool`, `code` (comma-separated; `ok`
 * is success, `failed` is every code but `ok` and `approval_required`), `outcome`, `process`, `operation`, `correlation`, `min_attempts`,
 * `min_elapsed_ms`, `since`, `until`, `limit` (default 100, at most 1000), `before` (`next` of the last page).
 */
export interface CallsResponse {
  readonly calls: readonly CallSummary[];
  /** For `before`. Absent: there are no more. */
  readonly next?: string;
  /** Calls in flight that match, without paging. */
  readonly in_flight: readonly InFlightCall[];
}

/** A call that ended. */
export interface CallSummary {
  /** Unique among calls; grows with the time of recording. Link: `/calls/SEQ`. */
  readonly seq: number;
  readonly correlation_id: string;
  readonly tool: string;
  /** `ok` or the error code. */
  readonly code: string;
  readonly outcome?: Outcome;
  readonly account?: string;
  readonly at: string;
  readonly elapsed_ms: number;
  /** Requests to the upstream. */
  readonly attempts: number;
  /** Of a mutation that also read, such as to find out its outcome: the attempts that could act. */
  readonly sends?: number;
  readonly waited_ms: number;
  readonly operation_id?: string;
  readonly process_id?: string;
  readonly process_name?: string;
}

export type Outcome = 'executed' | 'not_executed' | 'unknown';

export interface InFlightCall {
  readonly correlation_id: string;
  readonly tool: string;
  readonly account?: string;
  readonly operation_id?: string;
  readonly process_id: string;
  readonly process_name: string;
  readonly at: string;
  readonly deadline_at: string;
  /** Attempts that have begun. */
  readonly attempts: number;
  /** Requests at the upstream now: more than one with a hedge, none while it waits. */
  readonly at_upstream: number;
  /**
   * `running`: the first attempt of a request is at the upstream, or the handler works. `retrying`: a later
   * attempt is. `waiting`: see `wait`.
   */
  readonly state: 'running' | 'retrying' | 'waiting';
  readonly wait?: Wait;
  /** The fault of the last attempt that ended. */
  readonly last_fault?: Fault;
  /** The process stopped reporting: whether the call still runs is not known. */
  readonly lost?: true;
}

export interface Fault {
  readonly kind: FaultKind;
  /** Could the upstream have acted on it? */
  readonly sent: 'no' | 'maybe' | 'answered';
  readonly status?: number;
  /** Which timeout. */
  readonly clock?: string;
}

export type WaitReason =
  | 'backoff' // before a retry
  | 'rate_limit' // until the upstream's limit resets
  | 'circuit' // until the circuit lets a probe through
  | 'queue' // too many concurrent requests
  | 'budget' // no wait: the retry budget refused a retry
  | 'approval'; // for a person

export interface Wait {
  readonly reason: WaitReason;
  readonly since: string;
  /** The planned end. Absent: not planned, such as in a queue. */
  readonly until?: string;
  /** The next attempt, counted from 1. */
  readonly next_attempt?: number;
}

/** GET /api/calls/:seq, or GET /api/calls/:correlation_id (the newest with that id, or one in flight). */
export interface CallResponse {
  /** Absent while it is in flight. */
  readonly call?: CallSummary;
  readonly in_flight?: InFlightCall;
  readonly timeline: Timeline;
  readonly envelope?: StoredEnvelope;
  /** The operation of a mutation. */
  readonly operation?: Operation;
  /** Other calls with the same correlation id or operation: replays, the execution after an approval. */
  readonly related: readonly CallSummary[];
}

/** One axis, in milliseconds from `starts_at`. */
export interface Timeline {
  readonly starts_at: string;
  /** The length of the axis. For an in-flight call: until now. */
  readonly length_ms: number;
  /** Ordered by start. */
  readonly items: readonly TimelineItem[];
  /** The circuits of the upstreams during the call, as far as they are known. */
  readonly circuits: readonly {
    readonly upstream: string;
    readonly spans: readonly {
      readonly from_ms: number;
      readonly to_ms: number;
      readonly state: CircuitState;
    }[];
  }[];
  /** More happened than is stored: items that were left out. */
  readonly omitted?: number;
  /** False: the attempts were not recorded one by one (one successful attempt, or an earlier version). */
  readonly recorded: boolean;
}

export type TimelineItem =
  | {
      readonly kind: 'attempt';
      /** Counted from 1 for each request of the call. */
      readonly attempt: number;
      readonly from_ms: number;
      /** Absent: it still runs. */
      readonly to_ms?: number;
      readonly upstream?: string;
      /** What the request is for, if it is known: `x write`, `user posts`. */
      readonly request?: string;
      /** Absent: it succeeded, or it still runs. */
      readonly fault?: Fault;
      /** Sent while an earlier attempt was still running. */
      readonly hedge?: true;
    }
  | {
      readonly kind: 'wait';
      readonly reason: WaitReason;
      readonly from_ms: number;
      /** Absent: it still waits. */
      readonly to_ms?: number;
      readonly planned_to_ms?: number;
      /** A sentence: "Backoff after a server error (503)." */
      readonly text: string;
      readonly upstream?: string;
    }
  | {
      readonly kind: 'mark';
      readonly at_ms: number;
      /** A sentence: "Gave up: the retry budget is empty." */
      readonly text: string;
      readonly reason?: 'exhausted' | 'budget' | 'deadline' | 'not_retryable' | 'other';
    };

/** What the agent saw, as far as it is kept. */
export interface StoredEnvelope {
  readonly success: boolean;
  /** Kept for mutations (the journal's answer). Of reads only whether there was data. */
  readonly data?: unknown;
  readonly error?: Readonly<Record<string, unknown>>;
  readonly meta: Readonly<Record<string, unknown>>;
  /** What is left out or redacted, and why, as sentences. */
  readonly omitted: readonly string[];
}

/** GET /api/metrics/series?tool=NAME: the last 60 minutes, by tool. */
export interface SeriesResponse {
  /** The begin of each minute, oldest first; 60 of them. The last one is not complete. */
  readonly minutes: readonly string[];
  /** Most calls first. */
  readonly tools: readonly ToolSeries[];
  readonly all: Omit<ToolSeries, 'tool'>;
}

/** Each array has one value a minute; null where there was no call. */
export interface ToolSeries {
  readonly tool: string;
  readonly calls: readonly number[];
  readonly success_ratio: readonly (number | null)[];
  readonly p50_ms: readonly (number | null)[];
  readonly p95_ms: readonly (number | null)[];
  /** Of the whole hour. */
  readonly total: {
    readonly calls: number;
    readonly success_ratio: number | null;
    readonly p50_ms: number | null;
    readonly p95_ms: number | null;
    /** Error codes, most frequent first. */
    readonly codes: readonly { readonly code: string; readonly calls: number }[];
  };
}

import type { AuditStatus } from './audit.js';
import type { CallSummary, InFlightCall } from './calls.js';
import type { ApprovalSummary, OperationSummary } from './operations.js';

/** An opaque position in the stream of events. */
export type Cursor = string;

/** GET /api/snapshot: everything for the first page. Then `GET /api/events?after=CURSOR`. */
export interface SnapshotResponse {
  readonly cursor: Cursor;
  readonly now: NowResponse;
  readonly processes: readonly ProcessState[];
  readonly in_flight: readonly InFlightCall[];
  /** The newest 200, newest first. */
  readonly calls: readonly CallSummary[];
  /** Operations with an unknown outcome, oldest first, at most 200. */
  readonly unknown: readonly OperationSummary[];
  /** Undecided, soonest expiry first, at most 200. */
  readonly approvals: readonly ApprovalSummary[];
  readonly audit: AuditStatus;
}

/**
 * GET /api/events?after=CURSOR (or the header `Last-Event-ID`): server-sent events. Each message has
 * `id:` (the cursor after it), `event:` (the type below) and `data:` (its `data` as JSON). After a gap the
 * server first sends what was missed; if that is not stored any more, or too much, it sends `reset`.
 */
export type ConsoleEvent =
  /** Calls that ended, oldest first. At most 500 a message. */
  | { readonly type: 'calls'; readonly data: { readonly calls: readonly CallSummary[] } }
  /** The complete list of calls in flight, whenever it changed. */
  | { readonly type: 'in_flight'; readonly data: { readonly calls: readonly InFlightCall[] } }
  /** The complete list, whenever a process, a circuit, a budget or a rate limit changed. */
  | { readonly type: 'processes'; readonly data: { readonly processes: readonly ProcessState[] } }
  /** Operations that changed, with their state now. `approval` is set for those that await approval. */
  | {
      readonly type: 'operations';
      readonly data: {
        readonly operations: readonly OperationSummary[];
        readonly approvals: readonly ApprovalSummary[];
      };
    }
  | { readonly type: 'now'; readonly data: NowResponse }
  | { readonly type: 'audit'; readonly data: AuditStatus }
  /** Every 2 s. Without any message for 5 s, treat the connection as lost. */
  | { readonly type: 'beat'; readonly data: { readonly at: string } }
  /** The client has to request a new snapshot, and to continue with its cursor. */
  | { readonly type: 'reset'; readonly data: { readonly reason: string } }
  /** The session has ended; the stream closes. */
  | { readonly type: 'signed_out'; readonly data: { readonly reason: string } };

/** GET /api/now */
export interface NowResponse {
  readonly at: string;
  readonly status: 'ok' | 'attention' | 'broken';
  /** What is broken or waits for a person, the most severe first. Empty: nothing is. */
  readonly statements: readonly Statement[];
  /** How old the oldest report of a live process is. Absent: no process has reported. */
  readonly oldest_report_ms?: number;
  readonly counts: {
    readonly processes_live: number;
    readonly processes_lost: number;
    readonly in_flight: number;
    /** In flight, and waiting for another attempt or making it. */
    readonly retrying: number;
    readonly unknown: number;
    readonly approvals: number;
    /** Approvals that expired in the last 24 hours. */
    readonly approvals_expired: number;
    readonly calls_last_hour: number;
    readonly failed_last_hour: number;
    /** Of tools that only read; the others are mutations, which are operations. */
    readonly reads_last_hour: number;
    readonly reads_failed_last_hour: number;
  };
}

export interface Statement {
  readonly severity: 'broken' | 'attention';
  readonly kind:
    | 'circuit_open'
    | 'upstream_failing'
    | 'rate_limited'
    | 'retry_budget_empty'
    | 'process_lost'
    | 'tool_failing'
    | 'unknown_operations'
    | 'approvals_waiting'
    | 'approvals_expired'
    | 'approved_not_executed'
    | 'audit_invalid'
    | 'journal_not_durable';
  /** A complete sentence without times, in plain words: "Every request to x (api.x.com) fails with a timeout." */
  readonly text: string;
  /** Of an upstream: the precise state, such as its circuit, the processes that see it, and the last failure. */
  readonly detail?: string;
  /** What the operator can do, as a sentence. */
  readonly what_to_do?: string;
  /** Of an upstream that fails: the start of the failure in any live process, or the last success, if that is later. */
  readonly since?: string;
  /** When it ends by itself: the reset of a rate limit, the next probe of a circuit. */
  readonly until?: string;
  /** Of an upstream that fails: the last success in any process. */
  readonly last_success_at?: string;
  /** Calls that failed because of it since it began in their process, as far as they are stored. */
  readonly affected_calls?: number;
  /** Those of them whose outcome is unknown. */
  readonly unknown_calls?: number;
  readonly tools?: readonly string[];
  readonly upstream?: string;
  /** The pack or guarded server that uses the upstream. */
  readonly pack?: string;
  readonly process_id?: string;
  readonly operation_ids?: readonly string[];
}

/** GET /api/processes: every Toolkeel process that shares the journal, also on stdio; newest start first. */
export interface ProcessesResponse {
  readonly at: string;
  readonly processes: readonly ProcessState[];
}

export interface ProcessState {
  readonly id: string;
  /** `toolkeel` or the name of a guarded server. */
  readonly name: string;
  readonly kind: 'host' | 'guard';
  readonly transport: 'stdio' | 'http' | 'other';
  /** Of an HTTP server. */
  readonly url?: string;
  readonly version: string;
  readonly profile: string;
  readonly machine: string;
  readonly pid: number;
  readonly started_at: string;
  /** The last report. */
  readonly reported_at: string;
  readonly age_ms: number;
  /** `live`: reports. `ended`: stopped in order. `lost`: stopped reporting without an end. */
  readonly state: 'live' | 'ended' | 'lost';
  readonly ended_at?: string;
  /** The process that serves this page. */
  readonly here: boolean;
  readonly packs: readonly PackState[];
  readonly in_flight: number;
}

/** The tools of one pack, or of a guarded server. */
export interface PackState {
  readonly name: string;
  readonly tools: readonly { readonly name: string; readonly effect: Effect }[];
  readonly upstreams: readonly UpstreamState[];
}

export type Effect = 'read' | 'idempotent' | 'once';
export type CircuitState = 'closed' | 'half_open' | 'open';

export interface UpstreamState {
  readonly name: string;
  /** From the attempts of the last 5 minutes: `idle` without any, `failing` if the last ones failed. */
  readonly health: 'ok' | 'degraded' | 'failing' | 'idle';
  /** Attempts of the last 5 minutes. */
  readonly attempts: number;
  readonly failures: number;
  /** Since when every attempt of this process has failed. */
  readonly failing_since?: string;
  readonly last_success_at?: string;
  readonly last_failure?: {
    readonly at: string;
    readonly fault: FaultKind;
    readonly status?: number;
  };
  readonly circuit: {
    readonly state: CircuitState;
    /** When it entered the state; absent: it never changed. */
    readonly since?: string;
    /** While open: when a probe is sent. */
    readonly probe_at?: string;
    /** The last 50 changes, oldest first. */
    readonly changes: readonly { readonly at: string; readonly state: CircuitState }[];
  };
  /** Absent without a budget. */
  readonly retry_budget?: { readonly tokens: number; readonly capacity: number };
  /** Windows that the upstream reported and that have not reset yet. */
  readonly rate_limits: readonly RateLimitWindow[];
}

export interface RateLimitWindow {
  /** The route or resource, and the name of the window, if the upstream names them. */
  readonly route?: string;
  readonly name?: string;
  readonly limit: number;
  readonly remaining: number;
  readonly resets_at: string;
}

export type FaultKind =
  | 'connect'
  | 'network'
  | 'timeout'
  | 'rate_limited'
  | 'server'
  | 'auth'
  | 'rejected'
  | 'bad_response'
  | 'cancelled'
  | 'circuit_open'
  | 'overloaded'
  | 'unexpected';

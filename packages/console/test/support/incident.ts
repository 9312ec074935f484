import type {
  AuditRow,
  AuditStatus,
  CallSummary,
  InFlightCall,
  NowResponse,
  Operation,
  ProcessState,
  SeriesResponse,
} from '../../src/api/types.js';
import { calls, series } from './incident-calls.js';
import { approvals, auditRows, hash, settled, unknownPosts } from './incident-operations.js';
import { inFlight, processes } from './incident-processes.js';
import type { Clock } from './incident-tools.js';

/** A prepared incident: an outage of X, two posts with an unknown outcome, three approvals, one expired. */
export interface Incident {
  readonly now: NowResponse;
  readonly processes: readonly ProcessState[];
  readonly inFlight: readonly InFlightCall[];
  readonly calls: readonly CallSummary[];
  readonly operations: readonly Operation[];
  readonly series: SeriesResponse;
  readonly audit: AuditStatus;
  readonly rows: readonly AuditRow[];
}

export function incident(base: number): Incident {
  const ago = (seconds: number): string => new Date(base - seconds * 1000).toISOString();
  const ahead = (seconds: number): string => ago(-seconds);
  const operations = [...unknownPosts(ago), ...approvals(ago, ahead), ...settled(ago)];
  return {
    now: now(ago, ahead),
    processes: processes(ago, ahead),
    inFlight: inFlight(ago, ahead),
    calls: calls(base, 240),
    operations,
    series: series(base),
    audit: {
      head: { seq: 1284, hash: hash('head') },
      verified: { seq: 1284, hash: hash('head'), at: ago(4) },
      state: 'valid',
      problem_count: 0,
      problems: [],
      anchor:
        'The chain proves that entries were not changed in place. Anyone who can write the database could rewrite all of it; a head that you store elsewhere (toolkeel audit head) reveals that.',
    },
    rows: auditRows(operations),
  };
}

function now(ago: Clock, ahead: Clock): NowResponse {
  return {
    at: ago(0),
    status: 'broken',
    oldest_report_ms: 1400,
    counts: {
      processes_live: 3,
      processes_lost: 0,
      in_flight: 3,
      retrying: 1,
      unknown: 2,
      approvals: 3,
      approvals_expired: 1,
      calls_last_hour: 1846,
      failed_last_hour: 87,
      reads_last_hour: 1815,
      reads_failed_last_hour: 69,
    },
    statements: [
      {
        severity: 'broken',
        kind: 'circuit_open',
        text: 'x (api.x.com) fails with a server error (503).',
        detail: 'The circuit is open in 2 processes. No request is sent before the next probe.',
        what_to_do: 'Check the upstream. Sending resumes by itself when a test request succeeds.',
        since: ago(312),
        until: ahead(21),
        affected_calls: 64,
        tools: ['x_post_tweet', 'x_search_tweets'],
        upstream: 'api.x.com',
        pack: 'x',
      },
      {
        severity: 'attention',
        kind: 'unknown_operations',
        text: '2 operations have an unknown outcome: the upstream may or may not have acted.',
        what_to_do: 'Check the upstream, then settle each one.',
        affected_calls: 2,
        since: ago(318),
        tools: ['x_post_tweet'],
      },
      {
        severity: 'attention',
        kind: 'approvals_waiting',
        text: '3 approvals wait for a decision.',
        since: ago(1500),
        until: ahead(540),
      },
      {
        severity: 'attention',
        kind: 'approvals_expired',
        text: '1 approval expired without a decision in the last 24 hours.',
        what_to_do: 'Nothing was sent. The agent has to request it again.',
      },
    ],
  };
}

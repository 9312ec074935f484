import type { AuditStatus, NowResponse, Statement } from '@toolkeel/console';
import type { OperationView } from '@toolkeel/journal';
import type { OperatorJournal } from '../governance/operator.js';
import type { LiveState } from './live-state.js';
import { iso, processView, type KnownProcess } from './process-view.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** A lost process is reported this long; then it is history. */
const LOST_SHOWN_MS = HOUR_MS;
const MANY = 200;
/** The share of failed calls in five minutes from which a tool counts as failing. */
const FAILING_SHARE = 0.5;
const FAILING_CALLS = 3;
const MAX_COUNTED = 1000;

export interface NowInput {
  readonly live: LiveState;
  readonly journal: OperatorJournal;
  readonly audit: AuditStatus;
  readonly cautions: readonly string[];
}

/** What is broken or waits for a person, as sentences. */
export async function describeNow(input: NowInput): Promise<NowResponse> {
  const { live, journal, audit, cautions } = input;
  const { now, processes } = live;
  const inFlight = live.inFlight();
  const [unknown, waiting, expired] = await Promise.all([
    journal.operations.list({ states: ['unknown'], order: 'oldest', limit: MANY }),
    journal.approvals.list({ limit: MANY }),
    journal.operations.list({ states: ['expired'], settledSince: now - DAY_MS, limit: MANY }),
  ]);
  const counts = await journal.counts();
  const undecided = waiting.filter(({ approval }) => approval?.decision === undefined);
  const hour = live.series.totals(now - HOUR_MS);
  const statements: readonly Statement[] = [
    ...(audit.state === 'invalid' ? [auditStatement(audit)] : []),
    ...(await upstreamStatements(input)),
    ...processes.flatMap((process) => lostStatement(process, now)),
    ...toolStatements(live),
    ...unknownStatement(unknown, counts.unknown),
    ...approvalStatements(undecided, counts.awaitingApproval, waiting, expired),
    ...cautions.map((text): Statement => ({
      severity: 'attention',
      kind: 'journal_not_durable',
      text,
    })),
  ];
  const isBroken = statements.some(({ severity }) => severity === 'broken');
  const ages = processes.filter(({ state }) => state === 'live').map((one) => now - one.reportedAt);
  const total = [...hour.values()];
  const recentlyLost = processes.filter((one) => lostStatement(one, now).length > 0).length;
  return {
    at: iso(now),
    status: isBroken ? 'broken' : statements.length > 0 ? 'attention' : 'ok',
    statements: statements.toSorted((a, b) => rank(a) - rank(b)),
    ...(ages.length > 0 && { oldest_report_ms: Math.max(0, ...ages) }),
    counts: {
      processes_live: ages.length,
      processes_lost: recentlyLost,
      in_flight: inFlight.filter(({ lost }) => !lost).length,
      retrying: inFlight.filter(({ lost, state }) => !lost && state !== 'running').length,
      unknown: counts.unknown,
      approvals: counts.awaitingApproval,
      approvals_expired: expired.length,
      calls_last_hour: total.reduce((sum, { calls }) => sum + calls, 0),
      failed_last_hour: total.reduce((sum, { calls, ok }) => sum + calls - ok, 0),
    },
  };
}

const rank = ({ severity }: Statement): number => (severity === 'broken' ? 0 : 1);

function auditStatement({ problem_count: count, problems }: AuditStatus): Statement {
  const [first] = problems;
  return {
    severity: 'broken',
    kind: 'audit_invalid',
    text: `The audit chain is not intact: ${first?.message ?? `${count} problems`}.`,
    what_to_do: 'Compare with a backup, and find out who can write to the journal.',
  };
}

async function upstreamStatements({ live, journal }: NowInput): Promise<readonly Statement[]> {
  const found: Statement[] = [];
  for (const process of live.processes) {
    if (process.state !== 'live') continue;
    for (const pack of processView(process, live.now, undefined).packs) {
      const tools = pack.tools.map(({ name }) => name);
      for (const upstream of pack.upstreams) {
        const statement = upstreamStatement(
          upstream,
          `${process.info.name}, pid ${process.info.pid}`,
        );
        if (!statement) continue;
        const affected =
          statement.since === undefined
            ? undefined
            : await failedCalls(journal, Date.parse(statement.since), process.id, tools);
        found.push({
          ...statement,
          upstream: upstream.name,
          process_id: process.id,
          tools: affected?.tools ?? [],
          ...(affected && { affected_calls: affected.calls }),
        });
      }
    }
  }
  return found;
}

type UpstreamView = ReturnType<typeof processView>['packs'][number]['upstreams'][number];

function upstreamStatement(upstream: UpstreamView, where: string): Statement | undefined {
  const { name, circuit, health, failing_since: failingSince, rate_limits: limits } = upstream;
  const { last_failure: failure, retry_budget: budget } = upstream;
  const cause = failure
    ? ` Last fault: ${failure.fault}${failure.status === undefined ? '' : ` (${failure.status})`}.`
    : '';
  const since = failingSince ?? circuit.since;
  if (circuit.state === 'open') {
    return {
      severity: 'broken',
      kind: 'circuit_open',
      text: `The circuit of ${name} is open (${where}): no request is sent.${cause}`,
      what_to_do: 'Check the upstream. A probe closes the circuit when it responds again.',
      ...(since !== undefined && { since }),
      ...(circuit.probe_at !== undefined && { until: circuit.probe_at }),
    };
  }
  if (health === 'failing') {
    return {
      severity: 'broken',
      kind: 'upstream_failing',
      text: `Every request to ${name} fails (${where}).${cause}`,
      what_to_do: 'Check the upstream and its credential.',
      ...(since !== undefined && { since }),
    };
  }
  const exhausted = limits.filter(({ remaining }) => remaining <= 0);
  if (exhausted.length > 0) {
    const until = exhausted
      .map(({ resets_at: at }) => at)
      .toSorted()
      .at(-1);
    return {
      severity: 'attention',
      kind: 'rate_limited',
      text: `The rate limit of ${name} is used up (${where}).`,
      what_to_do: 'Requests continue when it resets.',
      ...(until !== undefined && { until }),
    };
  }
  if (budget && budget.tokens < 1) {
    return {
      severity: 'attention',
      kind: 'retry_budget_empty',
      text: `The retry budget of ${name} is empty (${where}): failed requests are not retried.`,
      what_to_do: 'Successful requests refill it.',
    };
  }
  return undefined;
}

async function failedCalls(
  { store }: OperatorJournal,
  since: number,
  process: string,
  tools: readonly string[],
): Promise<{ readonly calls: number; readonly tools: readonly string[] }> {
  const failed = await store.calls({ since, process, failed: true, limit: MAX_COUNTED });
  const affected = failed.filter(({ tool }) => tools.includes(tool));
  return { calls: affected.length, tools: [...new Set(affected.map(({ tool }) => tool))] };
}

function lostStatement(process: KnownProcess, now: number): readonly Statement[] {
  const { state, reportedAt, info, id, activity } = process;
  if (state !== 'lost' || now - reportedAt > LOST_SHOWN_MS) return [];
  const calls = activity.inFlight.length;
  const inFlight =
    calls === 0 ? '' : ` It had ${calls} ${calls === 1 ? 'call' : 'calls'} in flight.`;
  return [
    {
      severity: 'broken',
      kind: 'process_lost',
      text: `The process ${info.name} (${info.transport}, pid ${info.pid} on ${info.machine}) stopped reporting.${inFlight}`,
      what_to_do: 'Its client starts it again with the next call; else start it.',
      since: iso(reportedAt),
      affected_calls: calls,
      process_id: id,
    },
  ];
}

function toolStatements({ series, now }: LiveState): readonly Statement[] {
  return [...series.totals(now - 5 * MINUTE_MS)].flatMap(([tool, { calls, ok, code }]) => {
    const failed = calls - ok;
    if (failed < FAILING_CALLS || failed < FAILING_SHARE * calls) return [];
    return [
      {
        severity: 'attention' as const,
        kind: 'tool_failing' as const,
        text: `${failed} of ${calls} calls of ${tool} failed in the last five minutes, most with ${code}.`,
        affected_calls: failed,
        since: iso(now - 5 * MINUTE_MS),
        tools: [tool],
      },
    ];
  });
}

function unknownStatement(unknown: readonly OperationView[], total: number): readonly Statement[] {
  const [oldest] = unknown;
  if (!oldest) return [];
  const are = total === 1 ? '1 operation has' : `${total} operations have`;
  return [
    {
      severity: 'attention',
      kind: 'unknown_operations',
      text: `${are} an unknown outcome: the upstream may or may not have acted.`,
      what_to_do: 'Check the upstream, then settle each one.',
      since: oldest.sending_at ?? oldest.created_at,
      affected_calls: total,
      tools: [...new Set(unknown.map(({ tool }) => tool))],
      operation_ids: unknown.map(({ id }) => id),
    },
  ];
}

function approvalStatements(
  undecided: readonly OperationView[],
  total: number,
  waiting: readonly OperationView[],
  expired: readonly OperationView[],
): readonly Statement[] {
  const first = undecided
    .flatMap(({ approval }) => approval ?? [])
    .toSorted((one, other) => (one.expires_at < other.expires_at ? -1 : 1))[0];
  const now = Date.now();
  // An approved one is executed within seconds, unless it waits for its time.
  const stuck = waiting.filter(({ approval }) => {
    const { decided_at: at, scheduled_for: time } = approval ?? {};
    if (approval?.decision !== 'approved' || at === undefined) return false;
    return now - Math.max(Date.parse(at), time === undefined ? 0 : Date.parse(time)) > MINUTE_MS;
  });
  return [
    ...(first
      ? [
          {
            severity: 'attention' as const,
            kind: 'approvals_waiting' as const,
            text: `${total === 1 ? '1 approval waits' : `${total} approvals wait`} for a decision.`,
            since: undecided.map(({ approval }) => approval?.requested_at ?? '').toSorted()[0]!,
            until: first.expires_at,
            operation_ids: undecided.map(({ id }) => id),
          },
        ]
      : []),
    ...(stuck.length > 0
      ? [
          {
            severity: 'attention' as const,
            kind: 'approved_not_executed' as const,
            text: `${stuck.length === 1 ? '1 approved operation is' : `${stuck.length} approved operations are`} not executed yet.`,
            what_to_do: 'Open it to see why. A live process with the tool executes it.',
            since: stuck.map(({ approval }) => approval?.decided_at ?? '').toSorted()[0]!,
            operation_ids: stuck.map(({ id }) => id),
          },
        ]
      : []),
    ...(expired.length > 0
      ? [
          {
            severity: 'attention' as const,
            kind: 'approvals_expired' as const,
            text: `${expired.length === 1 ? '1 approval' : `${expired.length} approvals`} expired without a decision in the last 24 hours.`,
            what_to_do: 'The agent has to request them again.',
            operation_ids: expired.map(({ id }) => id),
          },
        ]
      : []),
  ];
}

import type { AuditStatus, NowResponse, Statement } from '@toolkeel/console';
import type { OperationView } from '@toolkeel/journal';
import type { OperatorJournal } from '../governance/operator.js';
import type { LiveState } from './live-state.js';
import { iso, type KnownProcess } from './process-view.js';
import { upstreamStatements } from './upstream-statements.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** A lost process is reported this long; then it is history. */
const LOST_SHOWN_MS = HOUR_MS;
const MANY = 200;
/** The share of failed calls in five minutes from which a tool counts as failing. */
const FAILING_SHARE = 0.5;
const FAILING_CALLS = 3;

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
  const upstreams = await upstreamStatements(live, journal);
  const statements: readonly Statement[] = [
    ...(audit.state === 'invalid' ? [auditStatement(audit)] : []),
    ...upstreams,
    ...processes.flatMap((process) => lostStatement(process, now)),
    ...(await toolStatements(input, upstreams)),
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
  const readers = readTools(processes);
  const reads = [...hour].flatMap(([tool, one]) => (readers.has(tool) ? [one] : []));
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
      failed_last_hour: total.reduce((sum, { failed }) => sum + failed, 0),
      reads_last_hour: reads.reduce((sum, { calls }) => sum + calls, 0),
      reads_failed_last_hour: reads.reduce((sum, { failed }) => sum + failed, 0),
    },
  };
}

const rank = ({ severity }: Statement): number => (severity === 'broken' ? 0 : 1);

const readTools = (processes: readonly KnownProcess[]): ReadonlySet<string> =>
  new Set(
    processes.flatMap(({ info }) =>
      info.packs.flatMap(({ tools }) =>
        tools.flatMap(({ name, effect }) => (effect === 'read' ? [name] : [])),
      ),
    ),
  );

function auditStatement({ problem_count: count, problems }: AuditStatus): Statement {
  const [first] = problems;
  return {
    severity: 'broken',
    kind: 'audit_invalid',
    text: `The audit chain is not intact: ${first?.message ?? `${count} problems`}.`,
    what_to_do: 'Compare with a backup, and find out who can write to the journal.',
  };
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

/** Tools that fail for another reason than an upstream that is reported already. */
async function toolStatements(
  { live: { series, now }, journal: { store } }: NowInput,
  reported: readonly Statement[],
): Promise<readonly Statement[]> {
  const explained = new Set(reported.flatMap(({ tools = [] }) => tools));
  const since = now - 5 * MINUTE_MS;
  const found: Statement[] = [];
  for (const [tool, { calls, failed, code }] of series.totals(since)) {
    if (explained.has(tool)) continue;
    if (failed < FAILING_CALLS || failed < FAILING_SHARE * calls) continue;
    const [first] = await store.calls({ tool, failed: true, since, order: 'oldest', limit: 1 });
    found.push({
      severity: 'attention',
      kind: 'tool_failing',
      text: `${failed} of ${calls} calls of ${tool} failed in the last five minutes, most with ${code}.`,
      affected_calls: failed,
      ...(first && { since: iso(first.at) }),
      tools: [tool],
    });
  }
  return found;
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
            what_to_do: `Nothing was sent. The agent has to request ${expired.length === 1 ? 'it' : 'them'} again.`,
            operation_ids: expired.map(({ id }) => id),
          },
        ]
      : []),
  ];
}

import type {
  InFlightCall,
  PackState,
  ProcessState,
  UpstreamState as UpstreamView,
} from '@toolkeel/console';
import type { StoredProcess } from '@toolkeel/journal';
import { progressAt, type InFlight } from '../call/in-flight.js';
import type { ProcessActivity, ProcessInfo, UpstreamReport } from '../call/process-description.js';

/** A process that has not reported for this long is lost: three reports are missing. */
const LOST_AFTER_MS = 16_000;
/** Consecutive failures after which an upstream counts as failing. */
const FAILING_ATTEMPTS = 3;

export const iso = (ms: number): string => new Date(ms).toISOString();

/** A process with its parsed reports. */
export interface KnownProcess {
  readonly id: string;
  readonly startedAt: number;
  readonly reportedAt: number;
  readonly endedAt: number | undefined;
  readonly state: ProcessState['state'];
  readonly info: ProcessInfo;
  readonly activity: ProcessActivity;
}

const NO_INFO: ProcessInfo = {
  name: 'unknown',
  kind: 'host',
  transport: 'other',
  version: '',
  profile: '',
  machine: '',
  pid: 0,
  packs: [],
};
const NO_ACTIVITY: ProcessActivity = { upstreams: [], inFlight: [] };

/** `now`: on the store's clock. */
export function knownProcess(stored: StoredProcess, now: number): KnownProcess {
  const { id, startedAt, reportedAt, endedAt } = stored;
  const isLost = now - reportedAt > LOST_AFTER_MS;
  return {
    id,
    startedAt,
    reportedAt,
    endedAt,
    state: endedAt === undefined ? (isLost ? 'lost' : 'live') : 'ended',
    info: parse(stored.info, NO_INFO),
    activity: parse(stored.state, NO_ACTIVITY),
  };
}

/** A report of another version may lack fields. */
function parse<T extends object>(json: string, defaults: T): T {
  try {
    return { ...defaults, ...(JSON.parse(json) as Partial<T>) };
  } catch {
    return defaults;
  }
}

/** As people know it: the pack, then its host. */
export const upstreamName = (pack: string, upstream: string): string =>
  pack === upstream ? upstream : `${pack} (${upstream})`;

export function processView(
  process: KnownProcess,
  now: number,
  here: string | undefined,
): ProcessState {
  const { id, startedAt, reportedAt, endedAt, state, info, activity } = process;
  const { packs, console: _console, ...described } = info;
  return {
    id,
    ...described,
    started_at: iso(startedAt),
    reported_at: iso(reportedAt),
    age_ms: Math.max(0, now - reportedAt),
    state,
    ...(endedAt !== undefined && { ended_at: iso(endedAt) }),
    here: id === here,
    packs: packs.map((pack): PackState => ({
      ...pack,
      upstreams: activity.upstreams
        .filter((upstream) => upstream.pack === pack.name)
        .map((upstream) => upstreamView(upstream, now)),
    })),
    in_flight: state === 'live' ? activity.inFlight.length + (activity.more ?? 0) : 0,
  };
}

function upstreamView(report: UpstreamReport, now: number): UpstreamView {
  const { name, circuit, probeAt, tokens, capacity, limits, observed } = report;
  const { attempts = 0, failures = 0, failing = 0, changes = [] } = observed ?? {};
  const { failingSince, lastSuccessAt, lastFailure } = observed ?? {};
  const since = changes.at(-1)?.at;
  return {
    name,
    health: healthOf(attempts, failures, failing, circuit),
    attempts,
    failures,
    ...(failingSince !== undefined && { failing_since: iso(failingSince) }),
    ...(lastSuccessAt !== undefined && { last_success_at: iso(lastSuccessAt) }),
    ...(lastFailure && {
      last_failure: {
        at: iso(lastFailure.at),
        fault: lastFailure.kind,
        ...(lastFailure.status !== undefined && { status: lastFailure.status }),
      },
    }),
    circuit: {
      state: circuit,
      ...(since !== undefined && { since: iso(since) }),
      ...(probeAt !== undefined && { probe_at: iso(probeAt) }),
      changes: changes.map(({ at, state }) => ({ at: iso(at), state })),
    },
    ...(tokens !== undefined && { retry_budget: { tokens, capacity: capacity ?? tokens } }),
    rate_limits: limits
      .filter(({ resetAt }) => resetAt > now)
      .map(({ resetAt, ...limit }) => ({ ...limit, resets_at: iso(resetAt) })),
  };
}

function healthOf(
  attempts: number,
  failures: number,
  failing: number,
  circuit: UpstreamReport['circuit'],
): UpstreamView['health'] {
  if (circuit === 'open' || failing >= FAILING_ATTEMPTS) return 'failing';
  if (attempts === 0) return 'idle';
  return failures * 10 >= attempts ? 'degraded' : 'ok';
}

/** The calls in flight of live and lost processes, the oldest first. `now`: on the store's clock. */
export function inFlightViews(
  processes: readonly KnownProcess[],
  now: number,
): readonly InFlightCall[] {
  return processes
    .filter(({ state }) => state !== 'ended')
    .flatMap((process) => process.activity.inFlight.map((call) => inFlightView(call, process, now)))
    .toSorted((one, other) => (one.at < other.at ? -1 : 1));
}

function inFlightView(call: InFlight, process: KnownProcess, now: number): InFlightCall {
  const { correlationId, tool, account, at, deadline, fault } = call;
  // What a lost process did after its last report is not known.
  const isLost = process.state === 'lost';
  const { wait, running } = progressAt(call, isLost ? process.reportedAt : now);
  const isRetrying = running.some(({ attempt, hedge }) => attempt > 1 && !hedge);
  return {
    correlation_id: correlationId,
    tool,
    ...(account !== undefined && { account }),
    process_id: process.id,
    process_name: process.info.name,
    at: iso(at),
    deadline_at: iso(deadline ?? at),
    attempts: (call.ended ?? 0) + running.length,
    at_upstream: running.length,
    state: wait ? 'waiting' : isRetrying ? 'retrying' : 'running',
    ...(wait && {
      wait: {
        reason: wait.reason,
        since: iso(at + wait.from),
        ...(wait.planned !== undefined && { until: iso(at + wait.planned) }),
        ...(wait.next !== undefined && { next_attempt: wait.next }),
      },
    }),
    ...(fault && { last_fault: fault }),
    ...(isLost && { lost: true as const }),
  };
}

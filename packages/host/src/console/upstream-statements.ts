import type { Statement } from '@toolkeel/console';
import type { OperatorJournal } from '../governance/operator.js';
import { faultText } from './call-view.js';
import type { LiveState } from './live-state.js';
import { processView, upstreamName } from './process-view.js';

const MAX_COUNTED = 1000;
const LONGEST_CALL_MS = 300_000;

type Process = ReturnType<typeof processView>;
type UpstreamView = Process['packs'][number]['upstreams'][number];
type Problem = Pick<Statement, 'severity' | 'kind' | 'what_to_do' | 'since' | 'until'> & {
  /** What is wrong, in plain words, without where it is seen. `isMixed`: other requests succeeded since. */
  readonly says: (name: string, isMixed: boolean) => string;
  /** The precise state and where it is seen. */
  readonly detail?: (where: string) => string;
};

/** A problem of an upstream as one process sees it. */
interface Sighting {
  readonly process: Process;
  readonly view: UpstreamView;
  readonly upstream: string;
  readonly pack: string;
  readonly tools: readonly string[];
  readonly problem: Problem;
}

/** What is wrong with upstreams. Each is said once, however many processes see it. */
export async function upstreamStatements(
  live: Pick<LiveState, 'processes' | 'now'>,
  journal: Pick<OperatorJournal, 'store'>,
): Promise<readonly Statement[]> {
  const known = live.processes.map((process) => processView(process, live.now, undefined));
  const processes = known.filter(({ state }) => state === 'live');
  const sightings = processes.flatMap((process) =>
    process.packs.flatMap(({ name: pack, tools, upstreams }) =>
      upstreams.flatMap((upstream): readonly Sighting[] => {
        const problem = problemOf(upstream, live.now);
        if (!problem) return [];
        const names = tools.map(({ name }) => name);
        return [{ process, view: upstream, upstream: upstream.name, pack, tools: names, problem }];
      }),
    ),
  );
  const groups = new Map<string, Sighting[]>();
  for (const sighting of sightings) {
    const { problem, pack, upstream } = sighting;
    // One outage: the circuit opens in each process at its own time.
    const kind = problem.kind === 'upstream_failing' ? 'circuit_open' : problem.kind;
    const key = `${kind} ${pack} ${upstream}`;
    const group = groups.get(key);
    if (group) group.push(sighting);
    else groups.set(key, [sighting]);
  }
  const statements = await Promise.all(
    [...groups.values()].map((group) => statementOf(group, known, journal)),
  );
  // The order of processes changes with their reports. Statements that swap places are easily confused.
  return statements.toSorted(
    (a, b) => compare(a.since, b.since) || compare(a.upstream, b.upstream),
  );
}

const compare = (a = '', b = ''): number => (a < b ? -1 : a > b ? 1 : 0);

async function statementOf(
  group: readonly Sighting[],
  processes: readonly Process[],
  { store }: Pick<OperatorJournal, 'store'>,
): Promise<Statement> {
  const open = group.filter(({ problem: { kind } }) => kind !== 'upstream_failing');
  const seen = open.length > 0 ? open : group;
  const [{ problem, upstream, pack, process }] = seen as readonly [Sighting];
  const { says, detail, ...described } = problem;
  const isFailing = problem.severity === 'broken';
  const views = viewsOf(processes, pack, upstream);
  const success = isFailing ? lastSuccess(views) : undefined;
  const since = isFailing ? failureStart(views, group, success) : undefined;
  const begins = group.flatMap(({ problem: { since: at } }) => at ?? []);
  const isMixed =
    begins.length > 0 && success !== undefined && begins.every((begin) => begin < success);
  const until = earliest(group.map(({ problem: { until: at } }) => at));
  const affected: string[] = [];
  let maybe = 0;
  for (const sighting of group) {
    const from = sighting.problem.since;
    if (from === undefined) continue;
    const failingFrom = Date.parse(from);
    const filter = { since: failingFrom - LONGEST_CALL_MS, process: sighting.process.id } as const;
    const failed = await store.calls({ ...filter, failed: true, limit: MAX_COUNTED });
    // Calls that began before the failure and ended with it are affected, too.
    const meanwhile = failed.filter(({ at, elapsedMs }) => at + elapsedMs >= failingFrom);
    const own = meanwhile.filter(({ tool }) => sighting.tools.includes(tool));
    affected.push(...own.map(({ tool }) => tool));
    maybe += own.filter(({ outcome }) => outcome === 'unknown').length;
  }
  const where =
    seen.length === 1
      ? `${process.name} (${process.transport}, pid ${process.pid})`
      : `${seen.length} processes`;
  const others = group.filter((one) => !seen.includes(one));
  const sum = (name: 'attempts' | 'failures'): number =>
    others.reduce((total, { view }) => total + view[name], 0);
  const more =
    others.length === 0
      ? ''
      : ` ${sum('failures')} of ${sum('attempts')} requests of the last five minutes failed in ${others.length === 1 ? 'another process' : `${others.length} other processes`}.`;
  return {
    ...described,
    text: says(upstreamName(pack, upstream), isMixed),
    ...(detail && { detail: `${detail(where)}${more}` }),
    upstream,
    pack,
    ...(since !== undefined && { since, affected_calls: affected.length }),
    ...(maybe > 0 && { unknown_calls: maybe }),
    ...(until !== undefined && { until }),
    ...(success !== undefined && { last_success_at: success }),
    tools: [...new Set(affected)],
    ...(group.length === 1 && { process_id: process.id }),
  };
}

interface Seen {
  readonly state: Process['state'];
  readonly view: UpstreamView;
}

const viewsOf = (processes: readonly Process[], pack: string, upstream: string): readonly Seen[] =>
  processes.flatMap(({ state, packs }) =>
    packs
      .filter(({ name }) => name === pack)
      .flatMap(({ upstreams }) => upstreams.filter(({ name }) => name === upstream))
      .map((view) => ({ state, view })),
  );

/** Of any process, also of one that has ended: the statement must not hide that requests succeeded elsewhere. */
const lastSuccess = (views: readonly Seen[]): string | undefined =>
  views
    .flatMap(({ view: { last_success_at: at } }) => at ?? [])
    .toSorted()
    .at(-1);

/**
 * Since when requests fail: the earliest start among the live processes whose last request failed, or the last success
 * in any process, if that is later. A process counts from its first failure, not only once it counts as failing itself:
 * so a process that joins, fails more or ends never moves the time backwards.
 */
function failureStart(
  views: readonly Seen[],
  group: readonly Sighting[],
  success = '',
): string | undefined {
  const begins = views
    .filter(({ state }) => state === 'live')
    .map(({ view: { failing_since: at } }) => at);
  const begin = earliest(begins) ?? earliest(group.map(({ problem: { since: at } }) => at));
  return begin !== undefined && begin < success ? success : begin;
}

const earliest = (times: readonly (string | undefined)[]): string | undefined =>
  times.filter((time) => time !== undefined).toSorted()[0];

function problemOf(upstream: UpstreamView, now: number): Problem | undefined {
  const { circuit, health, failing_since: failingSince, rate_limits: limits } = upstream;
  const { last_failure: failure, retry_budget: budget } = upstream;
  const cause = failure ? ` with ${faultText({ kind: failure.fault, ...failure })}` : '';
  const since = failingSince ?? circuit.since;
  const { probe_at: probeAt } = circuit;
  // The same text while its circuit opens and is tested.
  const says: Problem['says'] = (name, isMixed) =>
    isMixed ? `Some requests to ${name} fail${cause}.` : `${name} fails${cause}.`;
  if (circuit.state === 'open') {
    const isDue = probeAt !== undefined && Date.parse(probeAt) <= now;
    return {
      severity: 'broken',
      kind: 'circuit_open',
      says,
      detail: (where) =>
        `The circuit is open in ${where}. ${isDue ? 'The next call is sent as a test.' : 'No request is sent before the next test.'}`,
      what_to_do: 'Check the upstream. Sending resumes by itself when a test request succeeds.',
      ...(since !== undefined && { since }),
      ...(probeAt !== undefined && !isDue && { until: probeAt }),
    };
  }
  const success = upstream.last_success_at ?? '';
  const isTested = circuit.state === 'half_open' && failure !== undefined && success < failure.at;
  if (health === 'failing' || isTested) {
    return {
      severity: 'broken',
      kind: 'upstream_failing',
      says,
      detail: (where) =>
        isTested
          ? `The circuit is half-open in ${where}: a call is sent as a test.`
          : `The circuit is ${circuit.state.replace('_', '-')} in ${where}.`,
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
      says: (name) => `The rate limit of ${name} is used up.`,
      detail: (where) => `Seen by ${where}.`,
      what_to_do: 'Requests continue when it resets.',
      ...(until !== undefined && { until }),
    };
  }
  if (budget && budget.tokens < 1) {
    return {
      severity: 'attention',
      kind: 'retry_budget_empty',
      says: (name) => `Failed requests to ${name} are not retried: its retry budget is empty.`,
      detail: (where) => `Seen by ${where}.`,
      what_to_do: 'Successful requests refill it.',
    };
  }
  return undefined;
}

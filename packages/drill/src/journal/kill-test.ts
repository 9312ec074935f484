import { seededRandom } from '@toolkeel/kernel/testing';
import { callUntilSettled, RestartingServer } from './calls.js';
import type { Launch } from './launch.js';
import type { ServerSettings } from './server/faults.js';
import type { EffectsUpstream } from './upstream.js';

/** The counters of a kill test. The `--json` file of the drill stores them under these keys. */
export const zeroTotals = Object.freeze({
  /** Distinct operations. */
  acts: 0,
  calls: 0,
  /** Killed processes. */
  deaths: 0,
  /** Writes that the upstream committed, from its own log. */
  effects: 0,
  /** Operations that the upstream committed more than once. */
  duplicates: 0,
  replays: 0,
  unknown: 0,
  /** Operations with different results for different callers. */
  contradictions: 0,
  /** Callers that never got an answer. */
  limbo: 0,
  refused: 0,
  /** Calls that timed out while their server was running. */
  late: 0,
  /** Calls that lost their answer because their server was killed. */
  lost: 0,
  ms: 0,
});

export type Totals = Readonly<Record<keyof typeof zeroTotals, number>>;

export function addTotals(a: Totals, b: Totals): Totals {
  const names = Object.keys(zeroTotals) as (keyof Totals)[];
  return Object.fromEntries(names.map((name) => [name, a[name] + b[name]])) as unknown as Totals;
}

/** The guarantees that a test violated. */
export function violations(totals: Totals): readonly string[] {
  const { duplicates, contradictions, limbo, refused, late, unknown } = totals;
  const count = (n: number, what: string) => (n > 0 ? [`${n} ${what}`] : []);
  return [
    ...count(duplicates, 'operations were executed twice'),
    ...count(contradictions, 'operations had contradictory results'),
    ...count(limbo, 'callers got no answer'),
    ...count(refused, 'callers were refused an allowed operation'),
    ...count(late, 'calls timed out'),
    ...count(unknown, 'callers got "unknown" for an operation that can be read back'),
  ];
}

/** The interval of the killer. Short compared to a call, so that kills hit every phase of a call. */
const TICK_MS = 5;

export interface KillTestPlan {
  readonly servers: number;
  readonly callersPerServer: number;
  /** Callers of one group request the same operations. */
  readonly groups: number;
  /** Operations that each caller requests, one after the other. */
  readonly actsPerCaller: number;
  readonly tools: readonly string[];
  /** The mean number of calls between two kills; Infinity for none. */
  readonly killEveryCalls: number;
  readonly timeoutMs: number;
  readonly seed: number;
  /** When callers stop requesting new operations, by `performance.now`. */
  readonly until?: number;
  readonly launch: Launch;
  /** Part of every key, so that tests on one journal do not share operations. */
  readonly name: string;
}

interface KillTestResult {
  readonly totals: Totals;
  /** The id that callers got for each operation. */
  readonly reportedIds: ReadonlyMap<string, string>;
  /** Callers that were refused, got no answer, or got "unknown", with the reason. */
  readonly problems: readonly string[];
}

/**
 * Runs many callers that request few operations from servers that are killed at random. No operation
 * may be executed twice, and every caller must get an answer.
 */
export async function runKillTest(
  plan: KillTestPlan,
  settings: ServerSettings,
  upstream: EffectsUpstream,
  onProgress: (calls: number, kills: number) => void = () => undefined,
): Promise<KillTestResult> {
  const startedAt = performance.now();
  const before = await upstream.counts();
  const random = seededRandom(plan.seed);
  const servers = Array.from(
    { length: plan.servers },
    () => new RestartingServer(settings, plan.launch),
  );
  await Promise.all(servers.map((server) => server.current()));
  const totals: Record<keyof Totals, number> = { ...zeroTotals };
  const reportedIds = new Map<string, string>();
  const contradictions = new Set<string>();
  const requested = new Set<string>();
  const problems: string[] = [];
  const { until = Number.POSITIVE_INFINITY } = plan;
  const kills = (): number => servers.reduce((sum, server) => sum + server.kills, 0);

  const runCaller = async (server: RestartingServer, group: number): Promise<void> => {
    for (let act = 0; act < plan.actsPerCaller && performance.now() < until; act++) {
      const tool = plan.tools[act % plan.tools.length] ?? 'act';
      const key = `${plan.name}:${group}:${act}`;
      requested.add(key);
      const end = await callUntilSettled(server, tool, { key }, plan.timeoutMs, totals);
      if (end.kind === 'done') {
        if (end.replayed) totals.replays += 1;
        if ((reportedIds.get(key) ?? end.id) !== end.id) contradictions.add(key);
        reportedIds.set(key, end.id);
      } else {
        totals[end.kind === 'unanswered' ? 'limbo' : end.kind] += 1;
        problems.push(`${key}: ${end.kind} ${end.why}`);
      }
    }
  };

  const ended = new AbortController();
  const killer = (async () => {
    let next = plan.killEveryCalls * random();
    while (!ended.signal.aborted) {
      await new Promise((resolve) => setTimeout(resolve, TICK_MS));
      onProgress(totals.calls, kills());
      const running = servers.filter((server) => server.isRunning);
      if (ended.signal.aborted || totals.calls < next || running.length === 0) continue;
      next += plan.killEveryCalls * (0.5 + random());
      // Not awaited: another server may be killed while this one restarts.
      void running[Math.floor(random() * running.length)]?.kill();
    }
  })();
  const callers = servers.flatMap((server, index) =>
    Array.from({ length: plan.callersPerServer }, (_, caller) =>
      runCaller(server, (caller * plan.servers + index) % plan.groups),
    ),
  );
  await Promise.all(callers);
  ended.abort();
  await killer;
  await Promise.all(servers.map((server) => server.close()));
  const after = await upstream.counts();
  totals.acts = requested.size;
  totals.deaths = kills();
  totals.effects = after.effects - before.effects;
  totals.duplicates = after.duplicates - before.duplicates;
  totals.contradictions = contradictions.size;
  totals.ms = performance.now() - startedAt;
  return { totals, reportedIds, problems };
}

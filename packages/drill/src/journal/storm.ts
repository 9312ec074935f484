import { type EffectCounts, luck } from './upstream/server.js';
import { type CallEnd, type CallStats, pursue, Site } from './calls.js';
import type { Launch } from './server/joined.js';
import type { ServerSettings } from './server/faults.js';

/** What a run came to, in figures that can be added up. */
export interface Tally {
  readonly acts: number;
  readonly calls: number;
  readonly deaths: number;
  /** Committed by the upstream, from its own log. */
  readonly effects: number;
  /** Acts that it committed more than once. */
  readonly duplicates: number;
  readonly replays: number;
  readonly unknown: number;
  /** Callers that were told different things of one act. */
  readonly contradictions: number;
  /** Callers that were never told. */
  readonly limbo: number;
  readonly refused: number;
  /** Calls without an answer in their own time while their server lived. */
  readonly late: number;
  /** Calls that lost their server, and with it their answer. */
  readonly lost: number;
  readonly ms: number;
}

export const nothing: Tally = Object.freeze({
  acts: 0,
  calls: 0,
  deaths: 0,
  effects: 0,
  duplicates: 0,
  replays: 0,
  unknown: 0,
  contradictions: 0,
  limbo: 0,
  refused: 0,
  late: 0,
  lost: 0,
  ms: 0,
});

/** `before`: what the upstream had done when the storm began. */
export function tallyOf(result: StormResult, before: EffectCounts, after: EffectCounts): Tally {
  return {
    acts: result.acts,
    calls: result.calls,
    deaths: result.deaths,
    effects: after.effects - before.effects,
    duplicates: after.duplicates - before.duplicates,
    replays: result.replays,
    unknown: result.ends.unknown,
    contradictions: result.contradictions.length,
    limbo: result.ends.limbo,
    refused: result.ends.refused,
    late: result.late,
    lost: result.codes['lost'] ?? 0,
    ms: result.ms,
  };
}

export function add(a: Tally, b: Tally): Tally {
  const names = Object.keys(nothing) as (keyof Tally)[];
  return Object.fromEntries(names.map((name) => [name, a[name] + b[name]])) as unknown as Tally;
}

/** What a tally breaks of the promise; nothing where it keeps it. */
export function broken(tally: Tally): readonly string[] {
  const { duplicates, contradictions, limbo, refused, late, unknown } = tally;
  const count = (n: number, what: string) => (n > 0 ? [`${n} ${what}`] : []);
  return [
    ...count(duplicates, 'acts were done twice'),
    ...count(contradictions, 'acts were told in two ways'),
    ...count(limbo, 'callers were never told'),
    ...count(refused, 'callers were refused what they may do'),
    ...count(late, 'calls were not answered in their time'),
    ...count(unknown, 'callers were told "unknown" of an act that can be read back'),
  ];
}

/** How often the reaper looks around. Short beside a call, so that every point of one can be met. */
const TICK_MS = 5;

export interface StormPlan {
  readonly servers: number;
  readonly callersPerServer: number;
  /** Callers of one group ask for the same acts; the groups of a storm share nothing. */
  readonly groups: number;
  /** How many acts each caller asks for, one after the other. */
  readonly actsPerCaller: number;
  readonly tools: readonly string[];
  /** How many calls there are, on average, between two deaths; Infinity for none. */
  readonly killEveryCalls: number;
  readonly timeoutMs: number;
  readonly seed: number;
  /** When callers ask for nothing new any more, by `performance.now`. */
  readonly until?: number;
  readonly launch?: Launch;
  /** Part of every key, so that storms on one journal do not meet. */
  readonly name: string;
}

interface StormResult extends CallStats {
  readonly acts: number;
  readonly deaths: number;
  readonly ends: Readonly<Record<CallEnd['kind'], number>>;
  readonly replays: number;
  /** Acts of which two callers were told different things. */
  readonly contradictions: readonly string[];
  /** What callers were told that is not the upstream's id. */
  readonly told: ReadonlyMap<string, string>;
  readonly refusals: readonly string[];
  /** Of what callers were told that nobody knows, and why. */
  readonly unknowns: readonly string[];
  readonly ms: number;
}

/** Many callers, few acts, servers that die: nobody may act twice, and nobody may be left waiting. */
export async function storm(
  plan: StormPlan,
  settings: ServerSettings,
  onProgress: (calls: number, deaths: number) => void = () => undefined,
): Promise<StormResult> {
  const from = performance.now();
  const random = luck(plan.seed);
  const sites = Array.from({ length: plan.servers }, () => new Site(settings, plan.launch));
  await Promise.all(sites.map((site) => site.server()));
  const stats: CallStats = { calls: 0, late: 0, codes: {} };
  const ends = { done: 0, unknown: 0, refused: 0, limbo: 0 };
  const told = new Map<string, string>();
  const contradictions = new Set<string>();
  const refusals: string[] = [];
  const unknowns: string[] = [];
  const asked = new Set<string>();
  const { until = Number.POSITIVE_INFINITY } = plan;
  let replays = 0;

  const one = async (site: Site, group: number): Promise<void> => {
    for (let act = 0; act < plan.actsPerCaller && performance.now() < until; act++) {
      const tool = plan.tools[act % plan.tools.length] ?? 'act';
      const key = `${plan.name}:${group}:${act}`;
      asked.add(key);
      const end = await pursue(site, tool, { key }, plan.timeoutMs, stats);
      ends[end.kind] += 1;
      if (end.kind === 'done') {
        if (end.replayed) replays += 1;
        if ((told.get(key) ?? end.id) !== end.id) contradictions.add(key);
        told.set(key, end.id);
      } else if (end.kind === 'unknown') {
        unknowns.push(`${key}: unknown ${end.why}`);
      } else if (end.kind === 'refused' || end.kind === 'limbo') {
        refusals.push(`${key}: ${end.kind === 'refused' ? end.code : end.last}`);
      }
    }
  };

  const ended = new AbortController();
  const reaper = (async () => {
    let next = plan.killEveryCalls * random();
    while (!ended.signal.aborted) {
      await pause(TICK_MS);
      onProgress(stats.calls, deathsOf(sites));
      const living = sites.filter((site) => site.isUp);
      if (ended.signal.aborted || stats.calls < next || living.length === 0) continue;
      next += plan.killEveryCalls * (0.5 + random());
      // Not waited for: another one may die while this one starts again.
      void living[Math.floor(random() * living.length)]?.kill();
    }
  })();
  const callers = sites.flatMap((site, index) =>
    Array.from({ length: plan.callersPerServer }, (_, caller) =>
      one(site, (caller * plan.servers + index) % plan.groups),
    ),
  );
  await Promise.all(callers);
  ended.abort();
  await reaper;
  await Promise.all(sites.map((site) => site.close()));
  return {
    ...stats,
    acts: asked.size,
    deaths: deathsOf(sites),
    ends,
    replays,
    contradictions: [...contradictions],
    told,
    refusals,
    unknowns,
    ms: performance.now() - from,
  };
}

function deathsOf(sites: readonly Site[]): number {
  return sites.reduce((sum, { deaths }) => sum + deaths, 0);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

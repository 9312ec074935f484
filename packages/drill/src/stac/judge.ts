import { presets } from '@toolkeel/kernel';
import {
  variantOf,
  DEVIATIONS,
  isSingleRequest,
  sum,
  type Measured,
  type Ratio,
  type ToolFigures,
} from './measure.js';
import { change, duration, percent, times } from '../report/table.js';
import {
  ATTEMPTS_THRESHOLD,
  LOAD_THRESHOLD,
  P95_THRESHOLD,
  P95_TEXT,
  SUCCESS_THRESHOLD,
  SUCCESS_THEORY,
} from '../simulator/objectives.js';
import { judge, type Objective } from '../report/objectives.js';
import { lowestExpected } from '../stats/stats.js';
import { toolNames, type ToolName } from './calls.js';

/** The success of each tool. */
export const TOOL_SUCCESS_THRESHOLD = 0.95;
/** The minimum number of calls to judge a tool. */
export const TOOL_CALLS = 200;
/** The minimum number of calls of a tool to judge by standard deviations, because failures are rare. */
const DEVIATION_CALLS = 500;
/** The minimum number of calls to judge a pooled share or a p95. */
export const POOLED_CALLS = 1000;

const CAP_MS = presets.stac.callTimeoutMs ?? Infinity;
/** Allowance for transport and scheduling. */
export const WALL_SLACK_MS = 100;

/** The run of each scenario that counts: the last, if it was repeated. */
export function lastRuns(all: readonly Measured[]): Measured[] {
  return [...new Map(all.map((run) => [run.scenario.id, run])).values()];
}

/** The largest accepted ratio between two identical variants. */
const NOISE_THRESHOLD = 1.1;

export const noiseRule = `The baseline is measured twice, in two identical variants. A scenario counts if the 95 % interval of the ratio of their p95 lies between ${change(1 / NOISE_THRESHOLD)} and ${change(NOISE_THRESHOLD)}. Otherwise the scenario is repeated once; if the second run does not count either, its p95 is not judged and the drill exits with code 3.`;

interface Noise {
  readonly ratio: Ratio;
  readonly counts: boolean;
}

export function judgeNoise({ ratios }: Pick<Measured, 'ratios'>): Noise {
  const { again } = ratios;
  if (!again) throw new Error('the baseline was measured only once');
  return {
    ratio: again,
    counts: again.low >= 1 / NOISE_THRESHOLD && again.high <= NOISE_THRESHOLD,
  };
}

const shareOf = ({ faulted, calls }: ToolFigures): number => faulted.successes / calls;

/** The success objectives of one scenario. */
function successObjectives(run: Measured): Objective[] {
  const where = duration(run.scenario.p95Ms);
  return [eachTool(run, where), singleRequests(run, where)];
}

function eachTool({ tools }: Measured, where: string): Objective {
  return judge({
    what: `success of each tool, fast faults, ${where}`,
    threshold: `≥ ${percent(TOOL_SUCCESS_THRESHOLD)} of ${TOOL_CALLS} calls`,
    values: tools.map((tool) => (tool.calls < TOOL_CALLS ? undefined : tool)),
    show: (judged) => {
      const worst = judged.toSorted((a, b) => shareOf(a) - shareOf(b))[0]!;
      return `at least ${percent(shareOf(worst))} (${worst.tool})`;
    },
    meets: (tool) => shareOf(tool) >= TOOL_SUCCESS_THRESHOLD,
  });
}

function singleRequests({ tools }: Measured, where: string): Objective {
  const single = tools.filter(isSingleRequest);
  const calls = sum(single, (tool) => tool.calls);
  const successes = sum(single, ({ faulted }) => faulted.successes);
  return judge({
    what: `success of the tools of one request, pooled, ${where}`,
    threshold: `≥ ${percent(SUCCESS_THRESHOLD)} (theory ${percent(SUCCESS_THEORY)})`,
    values: [calls < POOLED_CALLS ? undefined : successes / calls],
    show: ([share]) => `${percent(share!, 2)} of ${calls.toLocaleString('en')} calls`,
    meets: (share) => share >= SUCCESS_THRESHOLD,
  });
}

/**
 * Tools by the number of their requests, over all latencies: one latency has too few failures to
 * judge by standard deviations.
 */
function byRequests(runs: readonly Measured[]): Objective {
  const tools = toolNames.flatMap((name) => {
    const own = runs.flatMap((run) => run.tools.filter(({ tool }) => tool === name));
    return own.length === 0 ? [] : [pooled(name, own)];
  });
  return judge({
    what: 'success of a tool of k requests, fast faults, every latency',
    threshold: `≥ ${SUCCESS_THEORY}ᵏ − ${DEVIATIONS} standard deviations`,
    values: tools.map((tool) => (tool.calls < DEVIATION_CALLS ? undefined : tool)),
    show: (judged) => {
      const closest = judged.toSorted((a, b) => a.margin - b.margin)[0]!;
      return `closest: ${closest.name} ${percent(closest.share)} (≥ ${percent(closest.lowest)})`;
    },
    meets: ({ margin }) => margin >= 0,
  });
}

function pooled(name: ToolName, own: readonly ToolFigures[]) {
  const chances = own.flatMap((tool) => tool.chances);
  const calls = sum(own, (tool) => tool.calls);
  const share = sum(own, ({ faulted }) => faulted.successes) / calls;
  const lowest = lowestExpected(chances, DEVIATIONS);
  return { name, calls, share, lowest, margin: share - lowest };
}

/** Without faults no call may fail. */
function faultlessSuccess(runs: readonly Measured[]): Objective {
  const variants = runs.flatMap((run) => [variantOf(run, 'baseline'), variantOf(run, 'again')]);
  return judge({
    what: 'calls that fail without faults',
    threshold: '0',
    values: variants,
    show: (all) =>
      `${sum(all, ({ calls, successes }) => calls - successes)} of ${sum(all, ({ calls }) => calls).toLocaleString('en')}`,
    meets: ({ calls, successes }) => calls === successes,
  });
}

/** Requests with faults for each request without. */
export function loadOf(run: Measured): number {
  return variantOf(run, 'faulted').requests / variantOf(run, 'baseline').requests;
}

/** The p95 of all calls of a scenario, with the load for the mix. */
function p95Objective(run: Measured): Objective {
  const { mode, p95Ms } = run.scenario;
  const isMix = mode === 'mix';
  const load = loadOf(run);
  const { faulted } = run.ratios;
  const enough = variantOf(run, 'faulted').calls >= POOLED_CALLS;
  const objective = judge({
    what: `p95, ${isMix ? 'one fault in five a timeout, hedging' : 'fast faults'}, ${duration(p95Ms)}`,
    threshold: `≤ ${P95_TEXT}${isMix ? ` at ≤ ${times(LOAD_THRESHOLD, 1)}` : ''}`,
    values: [enough ? faulted : undefined],
    show: ([ratio]) => `${withInterval(ratio!)}${isMix ? ` at ${times(load)}` : ''}`,
    meets: ({ ratio }) => ratio <= P95_THRESHOLD && (!isMix || load <= LOAD_THRESHOLD),
  });
  if (objective.status === 'not run' || judgeNoise(run).counts) return objective;
  return { ...objective, status: 'too noisy' };
}

export function withInterval({ ratio, low, high }: Ratio): string {
  return `${change(ratio)} (${change(low)} … ${change(high)})`;
}

/** Invariants of every variant of every run, also of runs that do not count. */
function invariants(runs: readonly Measured[]): Objective[] {
  const variants = runs.flatMap((run) => run.variants);
  const calls = sum(variants, (variant) => variant.calls).toLocaleString('en');
  return [
    judge({
      what: 'attempts at a request, by the upstream’s log',
      threshold: `≤ ${ATTEMPTS_THRESHOLD}`,
      values: variants,
      show: (all) => `at most ${Math.max(...all.map(({ mostAttempts }) => mostAttempts))}`,
      meets: ({ mostAttempts }) => mostAttempts <= ATTEMPTS_THRESHOLD,
    }),
    judge({
      what: 'wall time of a call',
      threshold: `≤ ${duration(CAP_MS)} + ${duration(WALL_SLACK_MS)}`,
      values: variants,
      show: (all) => `at most ${duration(Math.max(...all.map(({ maxMs }) => maxMs)))}`,
      meets: ({ maxMs }) => maxMs <= CAP_MS + WALL_SLACK_MS,
    }),
    judge({
      what: 'envelopes that do not match their schema',
      threshold: '0',
      values: variants,
      show: (all) => `${sum(all, ({ mismatches }) => mismatches.length)} of ${calls}`,
      meets: ({ mismatches }) => mismatches.length === 0,
    }),
    judge({
      what: 'calls that contradict the upstream’s log',
      threshold: '0',
      values: variants,
      show: (all) => `${sum(all, ({ contradictions }) => contradictions.length)} of ${calls}`,
      meets: ({ contradictions }) => contradictions.length === 0,
    }),
    judge({
      what: 'requests that belong to no call',
      threshold: '0',
      values: runs.map(({ unattributed }) => unattributed),
      show: (all) => String(sum(all, (one) => one)),
      meets: (unattributed) => unattributed === 0,
    }),
  ];
}

/** All objectives of the drill. */
export function stacObjectives(all: readonly Measured[]): Objective[] {
  const runs = lastRuns(all);
  const fast = runs.filter(({ scenario }) => scenario.mode === 'fast');
  return [
    ...fast.flatMap(successObjectives),
    ...(fast.length > 0 ? [byRequests(fast)] : []),
    ...runs.map(p95Objective),
    ...invariants(all),
    faultlessSuccess(all),
  ];
}

/** 0: all met. 1: a threshold is missed. 3: none is missed, but the machine was too noisy to judge all. */
export function exitCodeOf(objectives: readonly Objective[]): 0 | 1 | 3 {
  const has = (wanted: Objective['status']) => objectives.some(({ status }) => status === wanted);
  if (has('missed')) return 1;
  return has('too noisy') ? 3 : 0;
}

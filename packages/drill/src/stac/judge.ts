import { presets } from '@toolkeel/kernel';
import {
  variantOf,
  DEVIATIONS,
  isSingleRequest,
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

/** Of the calls of each tool. */
export const TOOL_SUCCESS_THRESHOLD = 0.95;
/** … of which there must be so many for it to say something. */
export const TOOL_CALLS = 200;
/** Standard deviations of so rare a failure mean something from so many calls of a tool on. */
export const DEVIATION_CALLS = 500;
/** A pooled share or a p95 is judged from so many calls on. */
export const POOLED_CALLS = 1000;

export const CAP_MS = presets.stac.callTimeoutMs ?? Infinity;
/** The way there and back, and a busy machine. */
export const WALL_SLACK_MS = 100;

/** The run of each scenario that counts: the last one, if it had to be made again. */
export function lastRuns(all: readonly Measured[]): Measured[] {
  return [...new Map(all.map((run) => [run.scenario.id, run])).values()];
}

/** How far apart two variants that do the same may lie. */
const NOISE_BAR = 1.1;

/**
 * The rule, fixed before any run: a scenario counts if the 95 % interval of the p95 of the variant without
 * faults, made a second time, against the p95 of the first lies within ÷1.10 and ×1.10. Else it is
 * made once more as a whole, and if that does not count either, nothing is said about its p95.
 */
export const noiseRule = `The baseline is measured twice, in two variants that differ in nothing. A latency class counts if the 95 % interval of the ratio of their p95 lies between ${change(1 / NOISE_BAR)} and ${change(NOISE_BAR)}. If it does not, the class is run once more as a whole; if that does not count either, its p95 is not judged and the drill ends with exit code 3.`;

export interface Noise {
  readonly ratio: Ratio;
  readonly counts: boolean;
}

export function judgeNoise({ ratios }: Pick<Measured, 'ratios'>): Noise {
  const { again } = ratios;
  if (!again) throw new Error('the baseline was measured only once');
  return { ratio: again, counts: again.low >= 1 / NOISE_BAR && again.high <= NOISE_BAR };
}

const shareOf = ({ faulted, calls }: ToolFigures): number => faulted.successes / calls;

/** The objectives of success in one scenario. */
export function successObjectives(run: Measured): Objective[] {
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
  const calls = single.reduce((sum, tool) => sum + tool.calls, 0);
  const successes = single.reduce((sum, { faulted }) => sum + faulted.successes, 0);
  return judge({
    what: `success of the tools of one request, pooled, ${where}`,
    threshold: `≥ ${percent(SUCCESS_THRESHOLD)} (theory ${percent(SUCCESS_THEORY)})`,
    values: [calls < POOLED_CALLS ? undefined : successes / calls],
    show: ([share]) => `${percent(share!, 2)} of ${calls.toLocaleString('en')} calls`,
    meets: (share) => share >= SUCCESS_THRESHOLD,
  });
}

/**
 * Tools by how many requests they make, over all latencies: a single class has too few failures for
 * standard deviations to mean what they say.
 */
export function byRequests(runs: readonly Measured[]): Objective {
  const tools = toolNames.flatMap((name) => {
    const own = runs.flatMap((run) => run.tools.filter(({ tool }) => tool === name));
    return own.length === 0 ? [] : [pooled(name, own)];
  });
  return judge({
    what: 'success of a tool of k requests, fast faults, every latency',
    threshold: `≥ ${SUCCESS_THEORY}ᵏ − ${DEVIATIONS} standard deviations`,
    values: tools.map((tool) => (tool.calls < DEVIATION_CALLS ? undefined : tool)),
    show: (judged) => {
      const closestMatches = judged.toSorted((a, b) => a.margin - b.margin)[0]!;
      return `nearest: ${closestMatches.name} ${percent(closestMatches.share)} (≥ ${percent(closestMatches.lowest)})`;
    },
    meets: ({ margin }) => margin >= 0,
  });
}

function pooled(name: ToolName, own: readonly ToolFigures[]) {
  const chances = own.flatMap((tool) => tool.chances);
  const calls = own.reduce((sum, tool) => sum + tool.calls, 0);
  const share = own.reduce((sum, { faulted }) => sum + faulted.successes, 0) / calls;
  const lowest = lowestExpected(chances, DEVIATIONS);
  return { name, calls, share, lowest, margin: share - lowest };
}

/** Without faults nothing may fail. */
export function undisturbedSuccess(runs: readonly Measured[]): Objective {
  const variants = runs.flatMap((run) => [variantOf(run, 'baseline'), variantOf(run, 'again')]);
  return judge({
    what: 'calls that fail without faults',
    threshold: '0',
    values: variants,
    show: (all) =>
      `${failures(all)} of ${all.reduce((sum, { calls }) => sum + calls, 0).toLocaleString('en')}`,
    meets: ({ calls, successes }) => calls === successes,
  });
}

function failures(
  variants: readonly { readonly calls: number; readonly successes: number }[],
): number {
  return variants.reduce((sum, { calls, successes }) => sum + calls - successes, 0);
}

/** Requests that arrived with faults for each that arrived without. */
export function loadOf(run: Measured): number {
  return variantOf(run, 'faulted').requests / variantOf(run, 'baseline').requests;
}

/** The p95 of all calls of a scenario, and for the mix at which load. */
export function p95Objective(run: Measured): Objective {
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

/** What must hold in every variant of every run, also in those that do not count otherwise. */
export function hardObjectives(runs: readonly Measured[]): Objective[] {
  const variants = runs.flatMap((run) => run.variants);
  const calls = variants.reduce((sum, variant) => sum + variant.calls, 0).toLocaleString('en');
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
      show: (all) => `${lengthOf(all.map(({ mismatches }) => mismatches))} of ${calls}`,
      meets: ({ mismatches }) => mismatches.length === 0,
    }),
    judge({
      what: 'calls that say otherwise than the upstream’s log',
      threshold: '0',
      values: variants,
      show: (all) => `${lengthOf(all.map(({ contradictions }) => contradictions))} of ${calls}`,
      meets: ({ contradictions }) => contradictions.length === 0,
    }),
    judge({
      what: 'requests that belong to no call',
      threshold: '0',
      values: runs.map(({ unattributed }) => unattributed),
      show: (all) => String(all.reduce((sum, one) => sum + one, 0)),
      meets: (unattributed) => unattributed === 0,
    }),
  ];
}

function lengthOf(lists: readonly (readonly unknown[])[]): number {
  return lists.reduce((sum, list) => sum + list.length, 0);
}

/** The thresholds, and how we stand. */
export function stacObjectives(all: readonly Measured[]): Objective[] {
  const runs = lastRuns(all);
  const fast = runs.filter(({ scenario }) => scenario.mode === 'fast');
  return [
    ...fast.flatMap(successObjectives),
    ...(fast.length > 0 ? [byRequests(fast)] : []),
    ...runs.map(p95Objective),
    ...hardObjectives(all),
    undisturbedSuccess(all),
  ];
}

/** 0: all met. 1: a threshold is missed. 3: none is, but the machine was too noisy to judge all. */
export function exitCodeOf(objectives: readonly Objective[]): 0 | 1 | 3 {
  const has = (wanted: Objective['status']) => objectives.some(({ status }) => status === wanted);
  if (has('missed')) return 1;
  return has('too noisy') ? 3 : 0;
}

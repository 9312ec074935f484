import { type Interval, lowestExpected, p95Of, quantileOf, ratioInterval } from '../stats/stats.js';
import type { CallRecord, ScenarioRun } from './run.js';
import { type ToolName, toolNames } from './calls.js';
import { SUCCESS_THEORY } from '../simulator/objectives.js';
import type { Variant, VariantName, Scenario } from './scenarios.js';
import { derive } from '../simulator/model.js';

/** The accepted deviation below the expected success, in standard deviations. */
export const DEVIATIONS = 3;

function wallsOf(records: readonly CallRecord[]): Float64Array {
  return Float64Array.from(records, ({ wallMs }) => wallMs);
}

/** The wall time of calls. */
function wallFigures(records: readonly CallRecord[]) {
  const inOrder = wallsOf(records).toSorted();
  return {
    p50Ms: quantileOf(inOrder, 0.5),
    p95Ms: quantileOf(inOrder, 0.95),
    maxMs: quantileOf(inOrder, 1),
  };
}

const STEPS = 200;

/** The distribution for a plot: quantiles from 0 to 1 in equal steps. */
function curveOf(records: readonly CallRecord[]): number[] {
  const inOrder = wallsOf(records).toSorted();
  return Array.from({ length: STEPS + 1 }, (_, step) => quantileOf(inOrder, step / STEPS));
}

export type ToolFigures = ReturnType<typeof toolFigures>;

/** One tool with and without faults. */
function toolFigures(
  tool: ToolName,
  baseline: readonly CallRecord[],
  faulted: readonly CallRecord[],
) {
  const requests = baseline.map(({ distinct }) => distinct);
  const chances = requests.map((k) => SUCCESS_THEORY ** k);
  const without = wallFigures(baseline);
  const withFaults = wallFigures(faulted);
  const successes = (records: readonly CallRecord[]) => count(records, ({ success }) => success);
  return {
    tool,
    calls: faulted.length,
    /** The range of the number of requests of a call without faults. */
    requests: [Math.min(...requests), Math.max(...requests)] as const,
    baseline: { ...without, successes: successes(baseline) },
    faulted: {
      ...withFaults,
      successes: successes(faulted),
      incomplete: incompleteAmong(faulted, baseline),
      mostAttempts: Math.max(0, ...faulted.map(({ mostAttempts }) => mostAttempts)),
    },
    /** p95 with faults ÷ p95 without. */
    ratio: withFaults.p95Ms / without.p95Ms,
    /** The success probability of each call, given the number of its requests. */
    chances,
    /** The expected share of successes less `DEVIATIONS` standard deviations. */
    lowest: lowestExpected(chances, DEVIATIONS),
  };
}

/** Whether every call of the tool is one request. */
export function isSingleRequest({ requests: [min, max] }: ToolFigures): boolean {
  return min === 1 && max === 1;
}

type VariantFigures = ReturnType<typeof variantFigures>;

/** All calls of a variant. */
function variantFigures(
  { name, title }: Variant,
  records: readonly CallRecord[],
  baseline: readonly CallRecord[],
) {
  const messages = (what: 'mismatch' | 'contradiction') =>
    records.flatMap((record) =>
      record[what] === undefined ? [] : [`${record.tool} ${record.n}: ${record[what]}`],
    );
  return {
    name,
    title,
    calls: records.length,
    ...wallFigures(records),
    successes: count(records, ({ success }) => success),
    codes: countByCode(records),
    /** Successes whose data differs from that without faults. */
    incomplete: incompleteAmong(records, baseline),
    /** Requests that arrived at the upstreams. */
    requests: sum(records, ({ requests }) => requests),
    hedges: sum(records, ({ hedges }) => hedges),
    mostAttempts: Math.max(0, ...records.map(({ mostAttempts }) => mostAttempts)),
    /** The reasons why envelopes are invalid. */
    mismatches: messages('mismatch'),
    contradictions: messages('contradiction'),
    curve: curveOf(records),
  };
}

/** The variants make the same calls in the same order. */
function incompleteAmong(records: readonly CallRecord[], baseline: readonly CallRecord[]): number {
  return records.filter(({ success, digest }, at) => success && digest !== baseline[at]?.digest)
    .length;
}

function count<T>(all: readonly T[], holds: (one: T) => boolean): number {
  return all.filter(holds).length;
}

export function sum<T>(all: readonly T[], of: (one: T) => number): number {
  return all.reduce((total, one) => total + of(one), 0);
}

function countByCode(records: readonly CallRecord[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { code } of records) counts.set(code, (counts.get(code) ?? 0) + 1);
  return Object.fromEntries([...counts].toSorted(([, a], [, b]) => b - a));
}

/** p95 of a variant ÷ p95 of the baseline, and its 95 % interval. */
export interface Ratio extends Interval {
  readonly ratio: number;
}

/** The figures of a scenario. */
export interface Measured {
  readonly scenario: Scenario;
  readonly blocks: number;
  readonly tookMs: number;
  readonly variants: readonly VariantFigures[];
  readonly tools: readonly ToolFigures[];
  /** Relative to the baseline. */
  readonly ratios: Readonly<Partial<Record<VariantName, Ratio>>>;
  /** The time that the server adds to the upstream's latency: the median of single-request calls. */
  readonly overheadMs: number;
  /** Requests that belong to no call. */
  readonly unattributed: number;
}

export function variantOf(
  { variants }: Pick<Measured, 'variants'>,
  name: VariantName,
): VariantFigures {
  const found = variants.find((variant) => variant.name === name);
  if (!found) throw new Error(`the scenario has no variant ${name}`);
  return found;
}

const RESAMPLES = 2000;

export function measure(
  { scenario, blocks, records, unattributed }: ScenarioRun,
  { seed, tookMs }: { readonly seed: number; readonly tookMs: number },
): Measured {
  const of = (variant: VariantName): readonly CallRecord[] => records.get(variant) ?? [];
  const baseline = of('baseline');
  const called = new Set(baseline.map(({ tool }) => tool));
  // Records are in the order of the plan, so the same index in two variants is the same call, and the
  // bootstrap resamples whole blocks.
  const ratioTo = (variant: VariantName): Ratio => {
    const [a, b] = [wallsOf(of(variant)), wallsOf(baseline)];
    const options = { q: 0.95, seed: derive(seed, 77), blocks, resamples: RESAMPLES };
    return { ratio: p95Of(a) / p95Of(b), ...ratioInterval(a, b, options) };
  };
  const others = scenario.variants.map(({ name }) => name).filter((name) => name !== 'baseline');
  return {
    scenario,
    blocks,
    tookMs,
    unattributed,
    variants: scenario.variants.map((variant) =>
      variantFigures(variant, of(variant.name), baseline),
    ),
    tools: toolNames
      .filter((tool) => called.has(tool))
      .map((tool) => {
        const own = (variant: VariantName) => of(variant).filter((record) => record.tool === tool);
        return toolFigures(tool, own('baseline'), own('faulted'));
      }),
    ratios: Object.fromEntries(others.map((name) => [name, ratioTo(name)])),
    overheadMs: overheadOf(baseline),
  };
}

function overheadOf(baseline: readonly CallRecord[]): number {
  const added = baseline
    .filter(({ requests }) => requests === 1)
    .map(({ wallMs, latencyMs }) => wallMs - latencyMs);
  return quantileOf(Float64Array.from(added).toSorted(), 0.5);
}

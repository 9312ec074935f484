import {
  type Interval,
  lowestExpected,
  quantileOf,
  ratioInterval,
  sorted,
} from '../stats/stats.js';
import type { CallRecord, ScenarioRun } from './run.js';
import { type ToolName, toolNames } from './calls.js';
import { SUCCESS_THEORY } from '../simulator/objectives.js';
import type { Variant, VariantName, Scenario } from './scenarios.js';
import { derive } from '../simulator/model.js';

/** How far below what is expected is no longer bad luck, in standard deviations. */
export const DEVIATIONS = 3;

function wallsOf(records: readonly CallRecord[]): Float64Array {
  return Float64Array.from(records, ({ wallMs }) => wallMs);
}

/** How long calls took, as far as the figures show it. */
interface Walls {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly maxMs: number;
}

function wallFigures(records: readonly CallRecord[]): Walls {
  const inOrder = sorted(wallsOf(records));
  return {
    p50Ms: quantileOf(inOrder, 0.5),
    p95Ms: quantileOf(inOrder, 0.95),
    maxMs: quantileOf(inOrder, 1),
  };
}

const STEPS = 200;

/** The whole distribution for a picture: its quantiles from 0 to 1 in equal steps. */
function curveOf(records: readonly CallRecord[]): number[] {
  const inOrder = sorted(wallsOf(records));
  return Array.from({ length: STEPS + 1 }, (_, step) => quantileOf(inOrder, step / STEPS));
}

/** One tool without faults and with them. */
export interface ToolFigures {
  readonly tool: ToolName;
  readonly calls: number;
  /** The fewest and the most requests that one of its calls makes when nothing fails. */
  readonly requests: readonly [fewest: number, most: number];
  readonly baseline: Walls & { readonly successes: number };
  readonly faulted: Walls & {
    readonly successes: number;
    readonly incomplete: number;
    readonly mostAttempts: number;
  };
  /** p95 with faults ÷ p95 without. */
  readonly ratio: number;
  /** The chance of each of its calls, by how many requests it makes. */
  readonly chances: readonly number[];
  /** The share of successes that they let expect, less three standard deviations. */
  readonly lowest: number;
}

function toolFigures(
  tool: ToolName,
  baseline: readonly CallRecord[],
  faulted: readonly CallRecord[],
): ToolFigures {
  const requests = baseline.map(({ distinct }) => distinct);
  const chances = requests.map((k) => SUCCESS_THEORY ** k);
  const without = wallFigures(baseline);
  const within = wallFigures(faulted);
  const successes = (records: readonly CallRecord[]) => count(records, ({ success }) => success);
  return {
    tool,
    calls: faulted.length,
    requests: [Math.min(...requests), Math.max(...requests)],
    baseline: { ...without, successes: successes(baseline) },
    faulted: {
      ...within,
      successes: successes(faulted),
      incomplete: incompleteAmong(faulted, baseline),
      mostAttempts: Math.max(0, ...faulted.map(({ mostAttempts }) => mostAttempts)),
    },
    ratio: within.p95Ms / without.p95Ms,
    chances,
    lowest: lowestExpected(chances, DEVIATIONS),
  };
}

/** Whether every call of it is one request. */
export function isSingleRequest({ requests: [fewest, most] }: ToolFigures): boolean {
  return fewest === 1 && most === 1;
}

/** All calls of a variant taken together. */
interface VariantFigures extends Walls {
  readonly name: VariantName;
  readonly title: string;
  readonly calls: number;
  readonly successes: number;
  /** How often each code was answered. */
  readonly codes: Readonly<Record<string, number>>;
  /** Successes that do not say the same as without faults. */
  readonly incomplete: number;
  /** What arrived at the upstreams. */
  readonly requests: number;
  readonly hedges: number;
  readonly mostAttempts: number;
  /** Envelopes that are none, and why. */
  readonly mismatches: readonly string[];
  /** Where a call and the upstream's log say different things. */
  readonly contradictions: readonly string[];
  readonly curve: readonly number[];
}

function variantFigures(
  { name, title }: Variant,
  records: readonly CallRecord[],
  baseline: readonly CallRecord[],
): VariantFigures {
  const said = (what: 'mismatch' | 'contradiction') =>
    records.flatMap((record) =>
      record[what] === undefined ? [] : [`${record.tool} ${record.n}: ${record[what]}`],
    );
  return {
    name,
    title,
    calls: records.length,
    ...wallFigures(records),
    successes: count(records, ({ success }) => success),
    codes: tally(records.map(({ code }) => code)),
    incomplete: incompleteAmong(records, baseline),
    requests: sum(records, ({ requests }) => requests),
    hedges: sum(records, ({ hedges }) => hedges),
    mostAttempts: Math.max(0, ...records.map(({ mostAttempts }) => mostAttempts)),
    mismatches: said('mismatch'),
    contradictions: said('contradiction'),
    curve: curveOf(records),
  };
}

/** The variants make the same calls in the same order. */
function incompleteAmong(records: readonly CallRecord[], baseline: readonly CallRecord[]): number {
  return records.filter(
    ({ success, digest }, place) => success && digest !== baseline[place]?.digest,
  ).length;
}

function count<T>(all: readonly T[], holds: (one: T) => boolean): number {
  return all.filter(holds).length;
}

function sum<T>(all: readonly T[], of: (one: T) => number): number {
  return all.reduce((total, one) => total + of(one), 0);
}

function tally(texts: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return Object.fromEntries([...counts].toSorted(([, a], [, b]) => b - a));
}

/** p95 of a variant ÷ p95 of the baseline, and its 95 % interval. */
export interface Ratio extends Interval {
  readonly ratio: number;
}

/** A scenario in figures. */
export interface Measured {
  readonly scenario: Scenario;
  readonly blocks: number;
  readonly tookMs: number;
  readonly variants: readonly VariantFigures[];
  readonly tools: readonly ToolFigures[];
  /** Against the baseline. */
  readonly ratios: Readonly<Partial<Record<VariantName, Ratio>>>;
  /** What our side adds to the upstream's own time: the median of calls of one request. */
  readonly overheadMs: number;
  /** Requests that belong to no call. */
  readonly unattributed: number;
}

export function variantOf(
  { variants }: Pick<Measured, 'variants'>,
  name: VariantName,
): VariantFigures {
  const found = variants.find((variant) => variant.name === name);
  if (!found) throw new Error(`there is no variant ${name}`);
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
  // Calls stand in the order of the plan, block after block, so that the same place in two variants is
  // the same call, and the intervals are drawn from whole blocks.
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

function p95Of(walls: Float64Array): number {
  return quantileOf(sorted(walls), 0.95);
}

function overheadOf(baseline: readonly CallRecord[]): number {
  const added = baseline
    .filter(({ requests }) => requests === 1)
    .map(({ wallMs, latencyMs }) => wallMs - latencyMs);
  return quantileOf(sorted(Float64Array.from(added)), 0.5);
}

import { derive } from '../../model/draws.js';
import { ratioInterval, type Interval } from '../../stats/interval.js';
import { quantileOf, sorted } from '../../stats/quantile.js';
import { toolNames } from '../calls/arguments.js';
import type { CallRecord } from '../run/record.js';
import type { ScenarioRun } from '../run/scenario.js';
import type { ArmName, Scenario } from '../scenarios.js';
import { armFigures, type ArmFigures } from './arm-figures.js';
import { toolFigures, type ToolFigures } from './tool-figures.js';
import { wallsOf } from './walls.js';

/** p95 of an arm ÷ p95 of the baseline, and its 95 % interval. */
export interface Ratio extends Interval {
  readonly ratio: number;
}

/** A scenario in figures. */
export interface Measured {
  readonly scenario: Scenario;
  readonly blocks: number;
  readonly tookMs: number;
  readonly arms: readonly ArmFigures[];
  readonly tools: readonly ToolFigures[];
  /** Against the baseline. */
  readonly ratios: Readonly<Partial<Record<ArmName, Ratio>>>;
  /** What our side adds to the upstream's own time: the median of calls of one request. */
  readonly overheadMs: number;
  /** Requests that belong to no call. */
  readonly strange: number;
}

export function armOf({ arms }: Pick<Measured, 'arms'>, name: ArmName): ArmFigures {
  const found = arms.find((arm) => arm.name === name);
  if (!found) throw new Error(`there is no arm ${name}`);
  return found;
}

const RESAMPLES = 2000;

export function measure(
  { scenario, blocks, records, strange }: ScenarioRun,
  { seed, tookMs }: { readonly seed: number; readonly tookMs: number },
): Measured {
  const of = (arm: ArmName): readonly CallRecord[] => records.get(arm) ?? [];
  const baseline = of('baseline');
  const called = new Set(baseline.map(({ tool }) => tool));
  // Calls stand in the order of the plan, block after block, so that the same place in two arms is
  // the same call, and the intervals are drawn from whole blocks.
  const ratioTo = (arm: ArmName): Ratio => {
    const [a, b] = [wallsOf(of(arm)), wallsOf(baseline)];
    const options = { q: 0.95, seed: derive(seed, 77), blocks, resamples: RESAMPLES };
    return { ratio: p95Of(a) / p95Of(b), ...ratioInterval(a, b, options) };
  };
  const others = scenario.arms.map(({ name }) => name).filter((name) => name !== 'baseline');
  return {
    scenario,
    blocks,
    tookMs,
    strange,
    arms: scenario.arms.map((arm) => armFigures(arm, of(arm.name), baseline)),
    tools: toolNames
      .filter((tool) => called.has(tool))
      .map((tool) => {
        const own = (arm: ArmName) => of(arm).filter((record) => record.tool === tool);
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

import { presets } from '@toolkeel/kernel';
import { judge, type Objective } from '../report/objectives.js';
import { change, duration, percent, signed, times } from '../report/table.js';
import { standardError } from './bursts.js';
import type { CellResult } from './cell.js';
import type { Results } from './jobs.js';
import type { FaultModeName } from './model.js';
import * as plan from './plan.js';
import type { VariantName } from './variants.js';

const { baselines, cross, faultKinds, ownVariants } = plan;

export const SUCCESS_THRESHOLD = 0.985;
/** Two retries against one fault in five: 1 − 0.2³. */
export const SUCCESS_THEORY = 0.992;
export const P95_THRESHOLD = 1.35;
export const P95_TEXT = '+35 %';
/** With hedging. */
export const LOAD_THRESHOLD = 1.5;
export const OUTAGE_THRESHOLD = 1.1;
export const OPEN_THRESHOLD = 0.1;
/** For calls that begin inside a burst of 300 ms. */
export const BURST_THRESHOLD = 0.95;
/** Inside a burst of 1 s the threshold is the success with fixed caps, less this many standard errors. */
const BURST_ERRORS = 3;
export const ATTEMPTS_THRESHOLD = 1 + presets.stac.maxRetries;
/** The call timeout, plus the millisecond to which timers are rounded up. */
const WALL_THRESHOLD_MS = (presets.stac.callTimeoutMs ?? Infinity) + 1;

const highest = <T>(all: readonly T[], of: (one: T) => number): number => Math.max(...all.map(of));
const lowest = <T>(all: readonly T[], of: (one: T) => number): number => Math.min(...all.map(of));
const ratioOf = ({ ratio }: { readonly ratio: number }): number => ratio;
const successOf = ({ success }: { readonly success: number }): number => success;

/** One variant with one fault mode, at every baseline. */
const cellsOf = (results: Results, faults: FaultModeName, variant: VariantName) =>
  baselines.map((p95Ms) => plan.cell.of(results, faults, p95Ms, variant));

const everyCell = (results: Results) =>
  cross(ownVariants, faultKinds).flatMap(([variant, faults]) => cellsOf(results, faults, variant));

function withInterval({ ratio, interval }: CellResult): string {
  return `${change(ratio)} (${change(interval.low)} … ${change(interval.high)})`;
}

/** Success, p95, attempts and wall time in the cells. */
function cellObjectives(results: Results): Record<'latency' | 'bounds', Objective[]> {
  const latency = [
    judge({
      what: 'success, 20 % fast faults, every baseline',
      threshold: `≥ ${percent(SUCCESS_THRESHOLD)} (theory ${percent(SUCCESS_THEORY)})`,
      values: ownVariants.flatMap((variant) => cellsOf(results, 'fast', variant)),
      show: (cells) => `at least ${percent(lowest(cells, successOf), 2)}`,
      meets: ({ success }) => success >= SUCCESS_THRESHOLD,
    }),
    ...baselines.map((p95Ms) =>
      judge({
        what: `p95, fast faults, ${duration(p95Ms)}`,
        threshold: `≤ ${P95_TEXT}`,
        values: [plan.cell.of(results, 'fast', p95Ms, 'ours')],
        show: ([cell]) => withInterval(cell!),
        meets: ({ ratio }) => ratio <= P95_THRESHOLD,
      }),
    ),
    ...baselines.map((p95Ms) =>
      judge({
        what: `p95, mix faults, hedging, ${duration(p95Ms)}`,
        threshold: `≤ ${P95_TEXT} at ≤ ${times(LOAD_THRESHOLD, 1)}`,
        values: [plan.cell.of(results, 'mix', p95Ms, 'hedged')],
        show: ([cell]) => `${withInterval(cell!)} at ${times(cell!.load)}`,
        meets: ({ ratio, load }) => ratio <= P95_THRESHOLD && load <= LOAD_THRESHOLD,
      }),
    ),
  ];
  const bounds = [
    judge({
      what: 'attempts of a call, every cell',
      threshold: `≤ ${ATTEMPTS_THRESHOLD}`,
      values: everyCell(results),
      show: (cells) => `at most ${highest(cells, (cell) => cell.maxAttempts)}`,
      meets: ({ maxAttempts }) => maxAttempts <= ATTEMPTS_THRESHOLD,
    }),
    judge({
      what: 'wall time of a call, every cell',
      threshold: `≤ ${duration(WALL_THRESHOLD_MS - 1)}`,
      values: everyCell(results),
      show: (cells) => `at most ${duration(highest(cells, (cell) => cell.maxWallMs))}`,
      meets: ({ maxWallMs }) => maxWallMs <= WALL_THRESHOLD_MS,
    }),
  ];
  return { latency, bounds };
}

const causes = {
  half: 'A failure is detected only after half the time of an answer.',
  same: 'A failure is detected only after the time of an answer.',
  mix: 'Nearly 5 % of the calls meet a timeout of six seconds, so the p95 is at the edge of the tail.',
} as const;

/** Thresholds that no retry after a failure can meet, however short its backoff. */
function unattainable(results: Results): Objective[] {
  return (['half', 'same', 'mix'] as const).map((faults) => {
    const ratios = (variant: VariantName): number[] =>
      cellsOf(results, faults, variant).map((cell) => cell?.ratio ?? Number.NaN);
    const floor = ratios('floor');
    const objective = judge({
      what: `p95, ${faults} faults, no hedging, every baseline`,
      threshold: `≤ ${P95_TEXT}`,
      values: cellsOf(results, faults, 'ours'),
      show: (cells) => `at most ${change(highest(cells, ratioOf))}`,
      meets: ({ ratio }) => ratio <= P95_THRESHOLD,
    });
    if (objective.status !== 'missed' || !(Math.max(...floor) > P95_THRESHOLD)) return objective;
    const why = `${causes[faults]} An immediate retry, the fastest possible, already costs ${range(floor)}; hedging reduces it to ${range(ratios('hedged'))}.`;
    return { ...objective, status: 'cannot', why };
  });
}

function range(ratios: readonly number[]): string {
  return `${change(Math.min(...ratios))} to ${change(Math.max(...ratios))}`;
}

/** At one call in five seconds a circuit has too few samples; the budget alone bounds the load. */
const circuitRates = plan.outageRates.filter((rate) => rate >= 1);

function outages(results: Results): Objective[] {
  const runsOf = (variant: VariantName, rates: readonly number[]) =>
    cross(['crashes', 'hangs'], rates).map(([kind, rate]) =>
      plan.outage.of(results, kind, rate, variant),
    );
  const first = (title: string, variant: VariantName): Objective =>
    judge({
      what: `full outage, first 1,000 calls, 0.2 to 2000/s, ${title}`,
      threshold: `≤ ${times(OUTAGE_THRESHOLD, 1)}`,
      values: runsOf(variant, plan.outageRates),
      show: (runs) => `at most ${times(highest(runs, ({ load }) => load))}`,
      meets: ({ load }) => load <= OUTAGE_THRESHOLD,
    });
  return [
    first('preset', 'ours'),
    first('with hedging', 'hedged'),
    first('budget alone', 'withoutBreaker'),
    judge({
      what: 'full outage, once the circuit is open, 2 to 2000/s',
      threshold: `< ${times(OPEN_THRESHOLD, 1)}`,
      values: ownVariants.flatMap((variant) => runsOf(variant, circuitRates)),
      show: (runs) =>
        `at most ${times(
          highest(runs, (run) => run.loadOnceOpen ?? 9),
          3,
        )}`,
      meets: ({ loadOnceOpen = Infinity }) => loadOnceOpen < OPEN_THRESHOLD,
    }),
  ];
}

/** Calls that begin inside a burst, at every rate, start and baseline. */
function insideBursts(results: Results): Objective[] {
  const runsOf = (burstMs: number, variant: VariantName) =>
    cross(plan.insideBurstRates, plan.insideBurstStarts, plan.insideBurstBaselines).map(
      ([rate, start, p95Ms]) => plan.insideBurst.of(results, burstMs, rate, start, p95Ms, variant),
    );
  const where = `${plan.insideBurstRates.join(' and ')} calls/s, warm and cold`;
  const fixedCaps = runsOf(1000, 'seed');
  const comparisons = ownVariants.flatMap((variant) =>
    runsOf(1000, variant).map((ours, n) => {
      const fixed = fixedCaps[n];
      if (ours === undefined || fixed === undefined) return undefined;
      const above = ours.success - fixed.success;
      return { above, errors: above / standardError(ours, fixed) };
    }),
  );
  return [
    judge({
      what: `calls begun inside a burst of 300 ms, ${where}`,
      threshold: `≥ ${percent(BURST_THRESHOLD, 0)}`,
      values: ownVariants.flatMap((variant) => runsOf(300, variant)),
      show: (runs) => `at least ${percent(lowest(runs, successOf), 2)}`,
      meets: ({ success }) => success >= BURST_THRESHOLD,
    }),
    judge({
      what: `calls begun inside a burst of 1 s, ${where}`,
      threshold: `≥ fixed caps − ${BURST_ERRORS} standard errors`,
      values: comparisons,
      show: (all) => {
        const { above, errors } = all.reduce((a, b) => (a.errors < b.errors ? a : b));
        return `at least ${signed(100 * above)} points (${signed(errors)} standard errors)`;
      },
      meets: ({ errors }) => errors >= -BURST_ERRORS,
    }),
  ];
}

function coldStart(results: Results): Objective {
  return judge({
    what: 'cold start, 200 calls: p95, runs with 95 % success',
    threshold: `≤ ${P95_TEXT}, all`,
    values: baselines.map((p95Ms) => plan.cold.of(results, p95Ms, 'ours')),
    show: (runs) =>
      `at most ${change(highest(runs, ratioOf))}, ${percent(lowest(runs, (run) => run.runsPassing))} of runs`,
    meets: ({ ratio, runsPassing }) => ratio <= P95_THRESHOLD && runsPassing === 1,
  });
}

function falseOpens(results: Results): Objective {
  return judge({
    what: 'circuits that open at 20 or 30 % faults',
    threshold: '0',
    values: cross(plan.falseOpenRates, plan.falseOpenArrivals).map(([rate, arrivals]) =>
      plan.falseOpen.of(results, rate, arrivals),
    ),
    show: (runs) =>
      `${runs.reduce((sum, { opened }) => sum + opened, 0)} of ${runs.reduce((sum, run) => sum + run.runs, 0)} runs`,
    meets: ({ opened }) => opened === 0,
  });
}

/** The thresholds that a simulation can check, with their results. */
export function objectives(results: Results): Objective[] {
  const { latency, bounds } = cellObjectives(results);
  return [
    ...latency,
    ...outages(results),
    ...insideBursts(results),
    coldStart(results),
    falseOpens(results),
    ...bounds,
    ...unattainable(results),
  ];
}

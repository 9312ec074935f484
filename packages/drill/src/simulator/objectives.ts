import { presets } from '@toolkeel/kernel';
import { judge, type Objective } from '../report/objectives.js';
import { change, duration, percent, signed, times } from '../report/table.js';
import type { Results } from './jobs.js';
import type { VariantName } from './variants.js';
import type { FaultModeName } from './model.js';
import { baselines, cellId, faultKinds, ownVariants } from './plan.js';
import type { CellResult } from './cell.js';
import * as plan from './plan.js';
import { standardError } from './bursts.js';

/** What is promised. */
export const SUCCESS_THRESHOLD = 0.985;
/** Two retries against one fault in five: 1 − 0.2³. */
export const SUCCESS_THEORY = 0.992;
export const P95_THRESHOLD = 1.35;
export const P95_TEXT = '+35 %';
/** With hedging. */
export const LOAD_THRESHOLD = 1.5;
export const OUTAGE_THRESHOLD = 1.1;
export const OPEN_THRESHOLD = 0.1;
/** Of the calls that begin inside a burst of 300 ms. */
export const BURST_THRESHOLD = 0.95;
/** Inside a burst of 1 s the requirement's literal policy is the threshold, less this many standard errors. */
const BURST_ERRORS = 3;
export const ATTEMPTS_THRESHOLD = 1 + presets.stac.maxRetries;
/** The call's cap, and the millisecond to which alarms are rounded up. */
const WALL_THRESHOLD_MS = (presets.stac.callTimeoutMs ?? Infinity) + 1;

/** Beyond the thresholds: where trying again after a failure is too late, however soon. */
function outOfReach(results: Results): Objective[] {
  return (['half', 'same', 'mix'] as const).map((faults) => {
    const ours = cellsOf(results, faults, 'ours');
    const floor = cellsOf(results, faults, 'floor').map((cell) => cell?.ratio ?? Number.NaN);
    const judged = judge({
      what: `p95, ${faults} faults, no hedging, every baseline`,
      threshold: `≤ ${P95_TEXT}`,
      values: ours,
      show: (cells) => `at most ${change(Math.max(...cells.map(({ ratio }) => ratio)))}`,
      meets: (cell) => cell.ratio <= P95_THRESHOLD,
    });
    if (judged.status !== 'missed' || !(Math.max(...floor) > P95_THRESHOLD)) return judged;
    const hedged = cellsOf(results, faults, 'hedged').map((cell) => cell?.ratio ?? Number.NaN);
    const why = `${causes[faults]} Retrying at once, the fastest that any retry can be, already costs ${range(floor)}; hedging brings it to ${range(hedged)}.`;
    return { ...judged, status: 'cannot', why };
  });
}

const causes = {
  half: 'A failure is only known when half the time of an answer is gone.',
  same: 'A failure is only known when the time of an answer is gone.',
  mix: 'Nearly 5 % of the calls meet a timeout of six seconds, so that the p95 lies at the edge of a cliff.',
} as const;

function range(ratios: readonly number[]): string {
  return `${change(Math.min(...ratios))} to ${change(Math.max(...ratios))}`;
}

/** One variant with one kind of fault, at every baseline. */
const cellsOf = (results: Results, faults: FaultModeName, variant: VariantName) =>
  baselines.map((p95Ms) => results.get('cell', cellId(faults, p95Ms, variant)));

function success(results: Results): Objective {
  return judge({
    what: 'success, 20 % fast faults, every baseline',
    threshold: `≥ ${percent(SUCCESS_THRESHOLD)} (theory ${percent(SUCCESS_THEORY)})`,
    values: ownVariants.flatMap((variant) => cellsOf(results, 'fast', variant)),
    show: (cells) => `at least ${percent(Math.min(...cells.map((cell) => cell.success)), 2)}`,
    meets: (cell) => cell.success >= SUCCESS_THRESHOLD,
  });
}

function fastP95(results: Results, p95Ms: number): Objective {
  return judge({
    what: `p95, fast faults, ${duration(p95Ms)}`,
    threshold: `≤ ${P95_TEXT}`,
    values: [results.get('cell', cellId('fast', p95Ms, 'ours'))],
    show: ([cell]) => withInterval(cell!),
    meets: (cell) => cell.ratio <= P95_THRESHOLD,
  });
}

function hedgedMix(results: Results, p95Ms: number): Objective {
  return judge({
    what: `p95, mix faults, hedging, ${duration(p95Ms)}`,
    threshold: `≤ ${P95_TEXT} at ≤ ${times(LOAD_THRESHOLD, 1)}`,
    values: [results.get('cell', cellId('mix', p95Ms, 'hedged'))],
    show: ([cell]) => `${withInterval(cell!)} at ${times(cell!.load)}`,
    meets: (cell) => cell.ratio <= P95_THRESHOLD && cell.load <= LOAD_THRESHOLD,
  });
}

const everyCell = (results: Results) =>
  ownVariants.flatMap((variant) =>
    faultKinds.flatMap((faults) => cellsOf(results, faults, variant)),
  );

function attempts(results: Results): Objective {
  return judge({
    what: 'attempts of a call, every cell',
    threshold: `≤ ${ATTEMPTS_THRESHOLD}`,
    values: everyCell(results),
    show: (cells) => `at most ${Math.max(...cells.map((cell) => cell.maxAttempts))}`,
    meets: (cell) => cell.maxAttempts <= ATTEMPTS_THRESHOLD,
  });
}

function wallTime(results: Results): Objective {
  return judge({
    what: 'wall time of a call, every cell',
    threshold: `≤ ${duration(WALL_THRESHOLD_MS - 1)}`,
    values: everyCell(results),
    show: (cells) => `at most ${duration(Math.max(...cells.map((cell) => cell.maxWallMs)))}`,
    meets: (cell) => cell.maxWallMs <= WALL_THRESHOLD_MS,
  });
}

function withInterval({ ratio, interval }: CellResult): string {
  return `${change(ratio)} (${change(interval.low)} … ${change(interval.high)})`;
}

/** At one call in five seconds a circuit has too little to go by; there the budget does it alone. */
const circuitRates = plan.outageRates.filter((rate) => rate >= 1);

function outages(results: Results): Objective[] {
  const full = ['crashes', 'hangs'] as const;
  const of = (variant: VariantName, rates: readonly number[]) =>
    full.flatMap((kind) =>
      rates.map((rate) => results.get('outage', plan.outageId(kind, rate, variant))),
    );
  const first = (title: string, variant: VariantName): Objective =>
    judge({
      what: `full outage, first 1,000 calls, 0.2 to 2000/s, ${title}`,
      threshold: `≤ ${times(OUTAGE_THRESHOLD, 1)}`,
      values: of(variant, plan.outageRates),
      show: (runs) => `at most ${times(Math.max(...runs.map(({ load }) => load)))}`,
      meets: ({ load }) => load <= OUTAGE_THRESHOLD,
    });
  return [
    first('preset', 'ours'),
    first('with hedging', 'hedged'),
    first('budget alone', 'withoutBreaker'),
    judge({
      what: 'full outage, once the circuit is open, 2 to 2000/s',
      threshold: `< ${times(OPEN_THRESHOLD, 1)}`,
      values: ownVariants.flatMap((variant) => of(variant, circuitRates)),
      show: (runs) => `at most ${times(Math.max(...runs.map((run) => run.loadOnceOpen ?? 9)), 3)}`,
      meets: ({ loadOnceOpen = Infinity }) => loadOnceOpen < OPEN_THRESHOLD,
    }),
  ];
}

/** The results of one variant inside bursts of a length: every rate, start and baseline. */
function insideBursts(results: Results, burstMs: number, variant: VariantName) {
  return plan.insideBurstRates.flatMap((perSecond) =>
    plan.insideBurstStarts.flatMap((start) =>
      plan.insideBurstBaselines.map((p95Ms) =>
        results.get(
          'insideBursts',
          plan.insideBurstId({ burstMs, perSecond, start, p95Ms }, variant),
        ),
      ),
    ),
  );
}

const rates = `${plan.insideBurstRates.join(' and ')} calls/s`;

function insideShortBursts(results: Results): Objective {
  return judge({
    what: `calls begun inside a burst of 300 ms, ${rates}, warm and cold`,
    threshold: `≥ ${percent(BURST_THRESHOLD, 0)}`,
    values: ownVariants.flatMap((variant) => insideBursts(results, 300, variant)),
    show: (runs) => `at least ${percent(Math.min(...runs.map(({ success }) => success)), 2)}`,
    meets: ({ success }) => success >= BURST_THRESHOLD,
  });
}

function insideLongBursts(results: Results): Objective {
  const literal = insideBursts(results, 1000, 'seed');
  const pairs = ownVariants.flatMap((variant) =>
    insideBursts(results, 1000, variant).map((ours, n) => {
      const seed = literal[n];
      if (ours === undefined || seed === undefined) return undefined;
      const above = ours.success - seed.success;
      return { above, errors: above / standardError(ours, seed) };
    }),
  );
  return judge({
    what: `calls begun inside a burst of 1 s, ${rates}, warm and cold`,
    threshold: `≥ seed 003, literally, − ${BURST_ERRORS} standard errors`,
    values: pairs,
    show: (all) => {
      const { above, errors } = all.reduce((a, b) => (a.errors < b.errors ? a : b));
      return `at least ${signed(100 * above)} points (${signed(errors)} standard errors)`;
    },
    meets: ({ errors }) => errors >= -BURST_ERRORS,
  });
}

function coldStart(results: Results): Objective {
  return judge({
    what: 'cold start, 200 calls: p95, runs with 95 % success',
    threshold: `≤ ${P95_TEXT}, all`,
    values: baselines.map((p95Ms) => results.get('cold', plan.coldId(p95Ms, 'ours'))),
    show: (runs) =>
      `at most ${change(Math.max(...runs.map(({ ratio }) => ratio)))}, ${percent(Math.min(...runs.map(({ runsPassing }) => runsPassing)))} of runs`,
    meets: ({ ratio, runsPassing }) => ratio <= P95_THRESHOLD && runsPassing === 1,
  });
}

function falseOpens(results: Results): Objective {
  const ids = plan.falseOpenRates.flatMap((rate) =>
    plan.falseOpenArrivals.map(({ title }) => plan.falseOpenId(rate, title)),
  );
  return judge({
    what: 'circuits that open at 20 or 30 % faults',
    threshold: '0',
    values: ids.map((id) => results.get('falseOpens', id)),
    show: (runs) =>
      `${runs.reduce((sum, { opened }) => sum + opened, 0)} of ${runs.reduce((sum, run) => sum + run.runs, 0)} runs`,
    meets: ({ opened }) => opened === 0,
  });
}

/** The thresholds that a simulation can hold us to, and how we stand. */
export function objectives(results: Results): Objective[] {
  return [
    success(results),
    ...baselines.map((p95Ms) => fastP95(results, p95Ms)),
    ...baselines.map((p95Ms) => hedgedMix(results, p95Ms)),
    ...outages(results),
    insideShortBursts(results),
    insideLongBursts(results),
    coldStart(results),
    falseOpens(results),
    attempts(results),
    wallTime(results),
    ...outOfReach(results),
  ];
}

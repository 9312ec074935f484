import { presets } from '@toolkeel/kernel';
import { judge, type Objective } from '../report/objectives.js';
import { change, duration, percent, signed, times } from '../report/table.js';
import type { Results } from './jobs.js';
import type { ArmName } from './variants.js';
import type { FaultModeName } from './model.js';
import { baselines, cellId, faultKinds, ownArms } from './plan.js';
import type { CellResult } from './cell.js';
import * as plan from './plan.js';
import { standardError } from './bursts.js';

/** What is promised. */
export const SUCCESS_BAR = 0.985;
/** Two retries against one fault in five: 1 − 0.2³. */
export const SUCCESS_THEORY = 0.992;
export const P95_BAR = 1.35;
export const P95_TEXT = '+35 %';
/** With hedging. */
export const LOAD_BAR = 1.5;
export const OUTAGE_BAR = 1.1;
export const OPEN_BAR = 0.1;
/** Of the calls that begin inside a burst of 300 ms. */
export const BURST_BAR = 0.95;
/** Inside a burst of 1 s the requirement's literal policy is the bar, less this many standard errors. */
const BURST_ERRORS = 3;
export const ATTEMPTS_BAR = 1 + presets.stac.maxRetries;
/** The call's cap, and the millisecond to which alarms are rounded up. */
const WALL_BAR_MS = (presets.stac.callTimeoutMs ?? Infinity) + 1;

/** Beyond the bars: where trying again after a failure is too late, however soon. */
function outOfReach(results: Results): Objective[] {
  return (['half', 'same', 'mix'] as const).map((faults) => {
    const ours = cellsOf(results, faults, 'ours');
    const floor = cellsOf(results, faults, 'floor').map((cell) => cell?.ratio ?? Number.NaN);
    const judged = judge({
      what: `p95, ${faults} faults, no hedging, every baseline`,
      bar: `≤ ${P95_TEXT}`,
      values: ours,
      show: (cells) => `at most ${change(Math.max(...cells.map(({ ratio }) => ratio)))}`,
      meets: (cell) => cell.ratio <= P95_BAR,
    });
    if (judged.verdict !== 'missed' || !(Math.max(...floor) > P95_BAR)) return judged;
    const hedged = cellsOf(results, faults, 'hedged').map((cell) => cell?.ratio ?? Number.NaN);
    const why = `${causes[faults]} Retrying at once, the fastest that any retry can be, already costs ${range(floor)}; hedging brings it to ${range(hedged)}.`;
    return { ...judged, verdict: 'cannot', why };
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

/** One arm with one kind of fault, at every baseline. */
const cellsOf = (results: Results, faults: FaultModeName, arm: ArmName) =>
  baselines.map((p95Ms) => results.get('cell', cellId(faults, p95Ms, arm)));

function success(results: Results): Objective {
  return judge({
    what: 'success, 20 % fast faults, every baseline',
    bar: `≥ ${percent(SUCCESS_BAR)} (theory ${percent(SUCCESS_THEORY)})`,
    values: ownArms.flatMap((arm) => cellsOf(results, 'fast', arm)),
    show: (cells) => `at least ${percent(Math.min(...cells.map((cell) => cell.success)), 2)}`,
    meets: (cell) => cell.success >= SUCCESS_BAR,
  });
}

function fastP95(results: Results, p95Ms: number): Objective {
  return judge({
    what: `p95, fast faults, ${duration(p95Ms)}`,
    bar: `≤ ${P95_TEXT}`,
    values: [results.get('cell', cellId('fast', p95Ms, 'ours'))],
    show: ([cell]) => withInterval(cell!),
    meets: (cell) => cell.ratio <= P95_BAR,
  });
}

function hedgedMix(results: Results, p95Ms: number): Objective {
  return judge({
    what: `p95, mix faults, hedging, ${duration(p95Ms)}`,
    bar: `≤ ${P95_TEXT} at ≤ ${times(LOAD_BAR, 1)}`,
    values: [results.get('cell', cellId('mix', p95Ms, 'hedged'))],
    show: ([cell]) => `${withInterval(cell!)} at ${times(cell!.load)}`,
    meets: (cell) => cell.ratio <= P95_BAR && cell.load <= LOAD_BAR,
  });
}

const everyCell = (results: Results) =>
  ownArms.flatMap((arm) => faultKinds.flatMap((faults) => cellsOf(results, faults, arm)));

function attempts(results: Results): Objective {
  return judge({
    what: 'attempts of a call, every cell',
    bar: `≤ ${ATTEMPTS_BAR}`,
    values: everyCell(results),
    show: (cells) => `at most ${Math.max(...cells.map((cell) => cell.maxAttempts))}`,
    meets: (cell) => cell.maxAttempts <= ATTEMPTS_BAR,
  });
}

function wallTime(results: Results): Objective {
  return judge({
    what: 'wall time of a call, every cell',
    bar: `≤ ${duration(WALL_BAR_MS - 1)}`,
    values: everyCell(results),
    show: (cells) => `at most ${duration(Math.max(...cells.map((cell) => cell.maxWallMs)))}`,
    meets: (cell) => cell.maxWallMs <= WALL_BAR_MS,
  });
}

function withInterval({ ratio, interval }: CellResult): string {
  return `${change(ratio)} (${change(interval.low)} … ${change(interval.high)})`;
}

/** At one call in five seconds a circuit has too little to go by; there the budget does it alone. */
const circuitRates = plan.outageRates.filter((rate) => rate >= 1);

function outages(results: Results): Objective[] {
  const full = ['crashes', 'hangs'] as const;
  const of = (arm: ArmName, rates: readonly number[]) =>
    full.flatMap((kind) =>
      rates.map((rate) => results.get('outage', plan.outageId(kind, rate, arm))),
    );
  const first = (title: string, arm: ArmName): Objective =>
    judge({
      what: `full outage, first 1,000 calls, 0.2 to 2000/s, ${title}`,
      bar: `≤ ${times(OUTAGE_BAR, 1)}`,
      values: of(arm, plan.outageRates),
      show: (runs) => `at most ${times(Math.max(...runs.map(({ load }) => load)))}`,
      meets: ({ load }) => load <= OUTAGE_BAR,
    });
  return [
    first('preset', 'ours'),
    first('with hedging', 'hedged'),
    first('budget alone', 'withoutBreaker'),
    judge({
      what: 'full outage, once the circuit is open, 2 to 2000/s',
      bar: `< ${times(OPEN_BAR, 1)}`,
      values: ownArms.flatMap((arm) => of(arm, circuitRates)),
      show: (runs) => `at most ${times(Math.max(...runs.map((run) => run.loadOnceOpen ?? 9)), 3)}`,
      meets: ({ loadOnceOpen = Infinity }) => loadOnceOpen < OPEN_BAR,
    }),
  ];
}

/** The results of one variant inside bursts of a length: every rate, start and baseline. */
function insideBursts(results: Results, burstMs: number, arm: ArmName) {
  return plan.insideBurstRates.flatMap((perSecond) =>
    plan.insideBurstStarts.flatMap((start) =>
      plan.insideBurstBaselines.map((p95Ms) =>
        results.get('insideBursts', plan.insideBurstId({ burstMs, perSecond, start, p95Ms }, arm)),
      ),
    ),
  );
}

const rates = `${plan.insideBurstRates.join(' and ')} calls/s`;

function insideShortBursts(results: Results): Objective {
  return judge({
    what: `calls begun inside a burst of 300 ms, ${rates}, warm and cold`,
    bar: `≥ ${percent(BURST_BAR, 0)}`,
    values: ownArms.flatMap((arm) => insideBursts(results, 300, arm)),
    show: (runs) => `at least ${percent(Math.min(...runs.map(({ success }) => success)), 2)}`,
    meets: ({ success }) => success >= BURST_BAR,
  });
}

function insideLongBursts(results: Results): Objective {
  const literal = insideBursts(results, 1000, 'seed');
  const pairs = ownArms.flatMap((arm) =>
    insideBursts(results, 1000, arm).map((ours, n) => {
      const seed = literal[n];
      if (ours === undefined || seed === undefined) return undefined;
      const above = ours.success - seed.success;
      return { above, errors: above / standardError(ours, seed) };
    }),
  );
  return judge({
    what: `calls begun inside a burst of 1 s, ${rates}, warm and cold`,
    bar: `≥ seed 003, literally, − ${BURST_ERRORS} standard errors`,
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
    bar: `≤ ${P95_TEXT}, all`,
    values: baselines.map((p95Ms) => results.get('cold', plan.coldId(p95Ms, 'ours'))),
    show: (runs) =>
      `at most ${change(Math.max(...runs.map(({ ratio }) => ratio)))}, ${percent(Math.min(...runs.map(({ runsPassing }) => runsPassing)))} of runs`,
    meets: ({ ratio, runsPassing }) => ratio <= P95_BAR && runsPassing === 1,
  });
}

function falseOpens(results: Results): Objective {
  const ids = plan.falseOpenRates.flatMap((rate) =>
    plan.falseOpenArrivals.map(({ title }) => plan.falseOpenId(rate, title)),
  );
  return judge({
    what: 'circuits that open at 20 or 30 % faults',
    bar: '0',
    values: ids.map((id) => results.get('falseOpens', id)),
    show: (runs) =>
      `${runs.reduce((sum, { opened }) => sum + opened, 0)} of ${runs.reduce((sum, run) => sum + run.runs, 0)} runs`,
    meets: ({ opened }) => opened === 0,
  });
}

/** The bars that a simulation can hold us to, and how we stand. */
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

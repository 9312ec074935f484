import type { ArmName } from '../arms/index.js';
import type { FaultModeName } from '../model/fault-mode.js';
import { baselines, cellId, faultKinds, ownArms } from '../plan/cells.js';
import { change, duration, percent, times } from '../report/format.js';
import type { CellResult } from '../runs/cell.js';
import type { Results } from '../runs/results.js';
import * as bars from './bars.js';
import { judge, type Objective } from './objective.js';

/** One arm with one kind of fault, at every baseline. */
export const cellsOf = (results: Results, faults: FaultModeName, arm: ArmName) =>
  baselines.map((p95Ms) => results.get('cell', cellId(faults, p95Ms, arm)));

export function success(results: Results): Objective {
  return judge({
    what: 'success, 20 % fast faults, every baseline',
    bar: `≥ ${percent(bars.SUCCESS_BAR)} (theory ${percent(bars.SUCCESS_THEORY)})`,
    values: ownArms.flatMap((arm) => cellsOf(results, 'fast', arm)),
    show: (cells) => `at least ${percent(Math.min(...cells.map((cell) => cell.success)), 2)}`,
    meets: (cell) => cell.success >= bars.SUCCESS_BAR,
  });
}

export function fastP95(results: Results, p95Ms: number): Objective {
  return judge({
    what: `p95, fast faults, ${duration(p95Ms)}`,
    bar: `≤ ${bars.P95_TEXT}`,
    values: [results.get('cell', cellId('fast', p95Ms, 'ours'))],
    show: ([cell]) => withInterval(cell!),
    meets: (cell) => cell.ratio <= bars.P95_BAR,
  });
}

export function hedgedMix(results: Results, p95Ms: number): Objective {
  return judge({
    what: `p95, mix faults, hedging, ${duration(p95Ms)}`,
    bar: `≤ ${bars.P95_TEXT} at ≤ ${times(bars.LOAD_BAR, 1)}`,
    values: [results.get('cell', cellId('mix', p95Ms, 'hedged'))],
    show: ([cell]) => `${withInterval(cell!)} at ${times(cell!.load)}`,
    meets: (cell) => cell.ratio <= bars.P95_BAR && cell.load <= bars.LOAD_BAR,
  });
}

const everyCell = (results: Results) =>
  ownArms.flatMap((arm) => faultKinds.flatMap((faults) => cellsOf(results, faults, arm)));

export function attempts(results: Results): Objective {
  return judge({
    what: 'attempts of a call, every cell',
    bar: `≤ ${bars.ATTEMPTS_BAR}`,
    values: everyCell(results),
    show: (cells) => `at most ${Math.max(...cells.map((cell) => cell.maxAttempts))}`,
    meets: (cell) => cell.maxAttempts <= bars.ATTEMPTS_BAR,
  });
}

export function wallTime(results: Results): Objective {
  return judge({
    what: 'wall time of a call, every cell',
    bar: `≤ ${duration(bars.WALL_BAR_MS - 1)}`,
    values: everyCell(results),
    show: (cells) => `at most ${duration(Math.max(...cells.map((cell) => cell.maxWallMs)))}`,
    meets: (cell) => cell.maxWallMs <= bars.WALL_BAR_MS,
  });
}

function withInterval({ ratio, interval }: CellResult): string {
  return `${change(ratio)} (${change(interval.low)} … ${change(interval.high)})`;
}

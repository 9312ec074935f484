import { arms } from '../arms/index.js';
import { faultModes, type FaultModeName } from '../model/fault-mode.js';
import {
  baselines,
  cellId,
  circumstanceArms,
  circumstanceId,
  circumstances,
  comparedArms,
  faultKinds,
} from '../plan/cells.js';
import type { CellResult } from '../runs/cell.js';
import type { Results } from '../runs/results.js';
import { LOAD_BAR, P95_BAR } from '../objectives/bars.js';
import { change, duration, percent, times } from './format.js';
import { figure, filled, plain, type Figure, type Table } from './table.js';

/** p95 of all calls against the same calls without faults: every arm at every baseline. */
export function cellTables(results: Results): Table[] {
  return faultKinds
    .map((faults) => cellTable(results, faults))
    .filter(({ rows }) => rows.length > 0);
}

function cellTable(results: Results, faults: FaultModeName): Table {
  const rows = comparedArms.map((arm) => {
    const cells = results.all(
      'cell',
      baselines.map((p95Ms) => cellId(faults, p95Ms, arm)),
    );
    return [
      plain(arms[arm].title),
      ...baselines.map((p95Ms) => p95Change(results.get('cell', cellId(faults, p95Ms, arm)))),
      figure(least(cells, 'success'), (share) => percent(share, 2)),
      figure(most(cells, 'load'), (load) => times(load)),
      figure(most(cells, 'maxWallMs'), duration),
    ];
  });
  return {
    title: `p95 with 20 % faults · ${faultModes[faults].title}`,
    lead: '',
    head: ['upstream’s own p95', ...baselines.map(duration), 'success', 'load', 'slowest'],
    rows: filled(rows),
  };
}

function p95Change(cell: CellResult | undefined): Figure {
  return figure(cell?.ratio, change, (ratio) => ratio <= P95_BAR);
}

function least(cells: readonly CellResult[], key: 'success'): number | undefined {
  return cells.length === 0 ? undefined : Math.min(...cells.map((cell) => cell[key]));
}

function most(
  cells: readonly CellResult[],
  key: 'load' | 'maxWallMs' | 'maxAttempts' | 'ratio',
): number | undefined {
  return cells.length === 0 ? undefined : Math.max(...cells.map((cell) => cell[key]));
}

/** The same two bars elsewhere. */
export function circumstanceTable(results: Results): Table {
  const rows = circumstances.map(({ title }) => [
    plain(title),
    ...circumstanceArms.flatMap(({ arm }) => {
      const cell = results.get('cell', circumstanceId(title, arm));
      return [
        p95Change(cell),
        figure(cell?.success, (share) => percent(share, 2)),
        figure(cell?.load, times, arm === 'hedged' ? (load) => load <= LOAD_BAR : undefined),
      ];
    }),
  ]);
  return {
    title: 'The same in other circumstances (upstream’s own p95: 200 ms)',
    lead: 'First three columns: our preset with fast faults. Last three: with hedging, one fault in five a timeout.',
    head: ['', 'fast', 'success', 'load', 'mix', 'success', 'load'],
    rows: filled(rows),
  };
}

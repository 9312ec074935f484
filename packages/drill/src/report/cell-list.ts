import { arms } from '../arms/index.js';
import { baselines, cellId, comparedArms, faultKinds, ownArms } from '../plan/cells.js';
import type { Results } from '../runs/results.js';
import { change, duration, percent, times } from './format.js';
import { plain, type Table } from './table.js';

/** Every cell with all that was measured in it. */
export function cellList(results: Results): Table {
  const modes = ['none', ...faultKinds] as const;
  const rows = modes.flatMap((faults) =>
    baselines.flatMap((p95Ms) =>
      (faults === 'none' ? ownArms : comparedArms).flatMap((arm) => {
        const cell = results.get('cell', cellId(faults, p95Ms, arm));
        if (cell === undefined) return [];
        const { low, high } = cell.interval;
        return [
          [
            `${faults}, ${duration(p95Ms)}`,
            arms[arm].title,
            percent(cell.success, 2),
            duration(cell.p50Ms),
            duration(cell.p95Ms),
            duration(cell.p99Ms),
            change(cell.ratio),
            `${change(low)} to ${change(high)}`,
            times(cell.load, 3),
            String(cell.maxAttempts),
            duration(cell.maxWallMs),
          ].map(plain),
        ];
      }),
    ),
  );
  return {
    title: 'Every cell',
    lead: 'p95 against the same calls without faults, with its 95 % interval (bootstrap over blocks of consecutive calls, paired with the calls without faults).',
    head: [
      'faults, own p95',
      'policy',
      'success',
      'p50',
      'p95',
      'p99',
      'p95 change',
      'interval',
      'load',
      'most attempts',
      'slowest',
    ],
    textColumns: 2,
    rows,
  };
}

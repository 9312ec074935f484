import { change } from '../report/format.js';
import type { Results } from '../runs/results.js';
import { P95_BAR, P95_TEXT } from './bars.js';
import { cellsOf } from './cells.js';
import { judge, type Objective } from './objective.js';

/** Beyond the bars: where trying again after a failure is too late, however soon. */
export function outOfReach(results: Results): Objective[] {
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

import { arms } from '../arms/index.js';
import { P95_BAR } from '../objectives/bars.js';
import { baselines, cellId, comparedArms } from '../plan/cells.js';
import type { Results } from '../runs/results.js';
import { change, duration } from './format.js';

const WIDTH = 48;
/** A bar of full width: 1000 times the p95 without faults. */
const FULL = 1000;

/** p95 with fast faults as bars. Each step to the right costs the same factor, not the same time. */
export function p95Bars(results: Results): string {
  const widest = Math.max(...comparedArms.map((arm) => arms[arm].title.length));
  const lines = baselines.flatMap((p95Ms) => [
    `upstream’s own p95: ${duration(p95Ms)}`,
    ...comparedArms.flatMap((arm) => {
      const cell = results.get('cell', cellId('fast', p95Ms, arm));
      if (cell === undefined) return [];
      return [`  ${arms[arm].title.padEnd(widest)} ${bar(cell.ratio)} ${change(cell.ratio)}`];
    }),
    '',
  ]);
  const mark = `${' '.repeat(widest + 3 + places(P95_BAR))}┆ the bar: ${change(P95_BAR)}`;
  return ['```text', ...lines, mark, '```'].join('\n');
}

function bar(ratio: number): string {
  return '█'.repeat(Math.max(0, places(ratio))) || '▏';
}

function places(ratio: number): number {
  return Math.round((WIDTH * Math.log(Math.max(1, ratio))) / Math.log(FULL));
}

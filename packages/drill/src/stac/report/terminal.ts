import { leftOut, objectiveTable } from '../../report/objective-table.js';
import { renderTable, wrap, type Paint } from '../../report/terminal.js';
import { exitCodeOf } from '../judge/index.js';
import { noiseRule } from '../judge/noise.js';
import { lastRuns } from '../judge/runs.js';
import type { Report } from './report.js';
import { runTable, toolTable } from './tables.js';

/** All tables, and at the end how we stand. */
export function renderTerminal(report: Report, paint: Paint): string {
  const { seed, calls, runs, objectives } = report;
  return [
    `${calls} calls a tool and arm over MCP on stdio, seed ${seed}.`,
    ...wrap(noiseRule),
    '',
    ...lastRuns(runs).map((run) => renderTable(toolTable(run), paint)),
    renderTable(runTable(runs), paint),
    renderTable(objectiveTable(objectives), paint),
    ...leftOut(objectives),
    ...troubles(report),
    verdictOf(report),
    '',
  ].join('\n');
}

const SHOWN = 5;

/** The first few of what must never happen, in the words of who noticed. */
function troubles({ runs }: Report): string[] {
  const arms = runs.flatMap((run) => run.arms);
  const all = arms.flatMap(({ mismatches, contradictions }) => [...mismatches, ...contradictions]);
  const more = all.length > SHOWN ? [`… and ${all.length - SHOWN} more`] : [];
  return [...all.slice(0, SHOWN), ...more];
}

export function verdictOf({ objectives, quick }: Report): string {
  if (exitCodeOf(objectives) === 1) return 'A bar is missed.';
  if (exitCodeOf(objectives) === 3) {
    return 'The machine was too noisy: two arms that do the same differ too much. The run does not count.';
  }
  return quick ? 'It works. Nothing was timed.' : 'Every bar is met.';
}

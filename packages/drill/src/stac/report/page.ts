import { availableParallelism } from 'node:os';
import { grid, renderMarkdown } from '../../report/markdown.js';
import { objectiveTable } from '../../report/objective-table.js';
import { lastRuns } from '../judge/runs.js';
import { method } from './method.js';
import type { Report } from './report.js';
import { runTable, toolTable } from './tables.js';
import { verdictOf } from './terminal.js';

/** The report as a page of the documentation. */
export function renderPage(report: Report): string {
  const { seed, calls, runs, objectives, tookMs } = report;
  const wrapped = runTable(runs);
  return [
    '# Drill: STAC',
    `Every STAC tool of a running server, over MCP on stdio, while its upstream fails: ${calls} calls of each tool in each arm, seed ${seed}, ${(tookMs / 60_000).toFixed(0)} minutes on ${availableParallelism()} vCPU with Node.js ${process.versions.node.split('.')[0]}; how much else went on there, the second measurement of the baseline tells. Written by`,
    '```sh\nnpm run drill:stac -- --markdown docs/drill-stac.md\n```',
    `**${verdictOf(report)}**`,
    '## Objectives',
    grid(objectiveTable(objectives)),
    '## The runs',
    'Change of the p95 against the baseline, with its 95 % interval. *Load*: requests that arrived for each that arrives without faults. *Our side*: what a call of one request takes beyond the upstream’s own time, the median without faults.',
    grid(wrapped),
    '## Every tool',
    ...lastRuns(runs).map((run) => {
      const table = toolTable(run);
      return renderMarkdown({ ...table, title: run.scenario.title }, 3);
    }),
    '## How it is measured',
    method.map((part) => `- ${part}`).join('\n'),
  ]
    .map((part) => part.trimEnd())
    .join('\n\n')
    .concat('\n');
}

import { objectiveTable } from '../../report/objective-table.js';
import type { Table } from '../../report/table.js';
import { exitCodeOf } from '../judge/index.js';
import { lastRuns } from '../judge/runs.js';
import { withInterval } from '../judge/timing.js';
import type { Measured } from '../measure/measured.js';
import { distributionPlot } from './distribution-plot.js';
import { method } from './method.js';
import type { Report } from './report.js';
import { style } from './style.js';
import { escaped } from './svg.js';
import { runTable, toolTable } from './tables.js';
import { verdictOf } from './terminal.js';
import { p95Plot, successPlot } from './tool-plots.js';

/** One file with everything in it: pictures first, then figures, then how they came about. */
export function renderHtml(report: Report): string {
  const { seed, calls, runs, objectives } = report;
  const outcome = { 0: 'good', 1: 'bad', 3: 'noisy' }[exitCodeOf(objectives)];
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Toolkeel drill: STAC</title>
<style>${style}</style>
<main>
<h1>STAC tools while their upstream fails</h1>
<p class="lead">${calls} calls of each tool in each arm, over MCP on stdio, seed ${seed}.</p>
<p class="verdict ${outcome}">${escaped(verdictOf(report))}</p>
${lastRuns(runs).map(scenarioSection).join('\n')}
<section><h2>Objectives</h2>${tableOf(objectiveTable(objectives))}</section>
<section><h2>The runs</h2>${tableOf(runTable(runs))}</section>
<section><h2>How it is measured</h2><ul>${method.map((part) => `<li>${emphasised(part)}</li>`).join('')}</ul></section>
</main>
</html>
`;
}

function scenarioSection(run: Measured): string {
  const table = toolTable(run);
  const legend = run.arms
    .map(({ name, title }) => `<span><i class="${name}"></i>${escaped(title)}</span>`)
    .join('');
  return `<section>
<h2>${escaped(run.scenario.title)}</h2>
<p>p95 with faults against without: <strong>${escaped(withInterval(run.ratios.faulted!))}</strong></p>
<p class="legend">${legend}<span><i class="bar"></i>+35 %</span></p>
<figure><figcaption>Share of calls answered within a time</figcaption>${distributionPlot(run)}</figure>
<div class="pair">
<figure><figcaption>p95 of every tool</figcaption>${p95Plot(run)}</figure>
<figure><figcaption>Success of every tool with faults; the tick is the least that its requests let expect</figcaption>${successPlot(run)}</figure>
</div>
<details><summary>Figures</summary>${tableOf(table)}</details>
</section>`;
}

function tableOf({ head, rows, textColumns = 1 }: Table): string {
  const kind = (column: number): string => (column < textColumns ? '' : ' class="figure"');
  const headings = head.map((text, column) => `<th${kind(column)}>${escaped(text)}</th>`);
  const lines = rows.map((row) =>
    row
      .map(
        ({ text, tone }, column) =>
          `<td${kind(column)}><span class="${tone}">${escaped(text)}</span></td>`,
      )
      .join(''),
  );
  return `<div class="scroll"><table><thead><tr>${headings.join('')}</tr></thead><tbody>${lines
    .map((line) => `<tr>${line}</tr>`)
    .join('')}</tbody></table></div>`;
}

/** The little markdown that the method is written in. */
export function emphasised(text: string): string {
  return escaped(text)
    .replaceAll(/\*\*(.+?)\*\*/g, '<strong>$1</strong>')
    .replaceAll(/\*(.+?)\*/g, '<em>$1</em>')
    .replaceAll(/`(.+?)`/g, '<code>$1</code>');
}

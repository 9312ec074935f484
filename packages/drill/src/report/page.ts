import { objectives } from '../objectives/index.js';
import { baselines, cellId } from '../plan/cells.js';
import type { PlanOptions } from '../plan/index.js';
import type { Results } from '../runs/results.js';
import { sweepNames, sweeps, sweepTable } from '../sweeps/index.js';
import { p95Bars } from './bars.js';
import { cellList } from './cell-list.js';
import { cellTables } from './cell-tables.js';
import { change } from './format.js';
import { grid, renderMarkdown } from './markdown.js';
import { model, shippedNumbers } from './model-text.js';
import { objectiveTable, reasons } from './objective-table.js';
import { tablesOf } from './tables.js';
import { quoteFrom, reasoning } from './tuning.js';

/** The page with everything: verdicts, tables, why the numbers are what they are. */
export function renderPage(options: PlanOptions, results: Results): string {
  const { seed, calls } = options;
  const all = objectives(results);
  const cells = cellTables(results);
  const others = tablesOf(results).filter(
    ({ title }) => !cells.some((cell) => cell.title === title),
  );
  return [
    '# Simulation',
    `Our policy against its objectives, beside the requirement taken literally and beside the defaults of p-retry, undici and ky: ${calls.toLocaleString('en')} calls a cell in virtual time, seed ${seed}. This page is written by the simulator, byte for byte the same for the same seed:`,
    '```sh\nnpm run simulate -- --write      # this page\nnpm run simulate -- --quick      # the same tables in seconds, on the terminal\nnpm run simulate -- --help\n```',
    '## Objectives',
    grid(objectiveTable(all)),
    'Where a bar cannot be met:',
    reasons(all)
      .map((reason) => `- ${reason}`)
      .join('\n'),
    '## What is simulated',
    model,
    '## p95 of all calls, against the same calls without faults',
    'Bold: within +35 %. Success is the lowest and load the highest of the row; slowest is the slowest of all calls.',
    ...cells.map((table) => renderMarkdown(table, 3)),
    hedgesOwnBaseline(results),
    '### The first of these as a picture',
    p95Bars(results),
    ...others.map((table) => renderMarkdown(table)),
    '## The numbers, and why these',
    `Shipped in the \`stac\` preset: ${shippedNumbers()}. The tables below change one thing at a time; \`npm run simulate -- --sweep alpha\` (or ${sweepNames.slice(1).join(', ')}) prints one of them.`,
    ...sweepNames.map((name) => sweepSection(name, results)),
    '## Every cell',
    `<details><summary>${cellList(results).rows.length} cells</summary>\n\n${cellList(results).lead}\n\n${grid(cellList(results))}\n\n</details>`,
    '',
  ]
    .map((part) => part.trimEnd())
    .join('\n\n')
    .trimEnd()
    .concat('\n');
}

/** The stricter reading: hedging lowers the p95 without faults too. */
function hedgesOwnBaseline(results: Results): string {
  const pairs = baselines.map((p95Ms) => ({
    without: results.get('cell', cellId('none', p95Ms, 'hedged'))?.ratio ?? Number.NaN,
    mix: results.get('cell', cellId('mix', p95Ms, 'hedged'))?.ratio ?? Number.NaN,
  }));
  const lowered = change(Math.max(...pairs.map(({ without }) => without)));
  const strictly = change(Math.max(...pairs.map(({ without, mix }) => mix / without)));
  return `Hedging changes the p95 without faults too (by ${lowered} or more). Held against that, its highest figure in the last table is ${strictly}.`;
}

function sweepSection(name: (typeof sweepNames)[number], results: Results): string {
  const table = sweepTable(sweeps[name], results);
  return `${renderMarkdown(table, 3)}\n${reasoning[name](quoteFrom(table))}`;
}

import { presets } from '@toolkeel/kernel';
import { notRun, objectiveTable, reasons } from '../report/objectives.js';
import {
  change,
  duration,
  grid,
  renderMarkdown,
  renderTable,
  wrap,
  type Paint,
} from '../report/table.js';
import type { Job, Results } from './jobs.js';
import { objectives, P95_THRESHOLD } from './objectives.js';
import { baselines, cell, comparedVariants, PER_SECOND, type PlanOptions } from './plan.js';
import { quoteFrom, sweepTable } from './measures.js';
import { sweepNames, sweeps } from './sweeps.js';
import { cellList, cellTables, tablesOf } from './tables.js';
import { variants, ATTEMPT_TIMEOUT_MS } from './variants.js';

/** All tables, then the objectives. */
export function renderReport({ seed, calls }: PlanOptions, results: Results, paint: Paint): string {
  const all = objectives(results);
  return [
    `${calls.toLocaleString('en')} calls a cell, seed ${seed}. p95 of all calls, relative to the same calls without faults.`,
    '',
    ...tablesOf(results).map((table) => renderTable(table, paint)),
    renderTable(objectiveTable(all), paint),
    ...reasons(all).flatMap((reason) => wrap(reason)),
    ...notRun(all),
    '',
  ].join('\n');
}

/** Every result and objective as JSON. */
export function renderJson(
  { seed, calls }: PlanOptions,
  jobs: readonly Job[],
  results: Results,
): string {
  const judged = objectives(results).filter(({ status }) => status !== 'not run');
  const all = { seed, calls, objectives: judged, results: results.inOrderOf(jobs) };
  return `${JSON.stringify(all, null, 2)}\n`;
}

/** The documentation page: objectives, tables, and the reasons for the shipped numbers. */
export function renderPage(options: PlanOptions, results: Results): string {
  const { seed, calls } = options;
  const all = objectives(results);
  const cells = cellTables(results);
  const others = tablesOf(results).filter(
    ({ title }) => !cells.some((table) => table.title === title),
  );
  return [
    '# Simulation',
    `The \`stac\` preset against its objectives, compared with fixed backoff caps and with the defaults of p-retry, undici and ky: ${calls.toLocaleString('en')} calls a cell in virtual time, seed ${seed}. The simulator writes this page; the same seed gives the same bytes:`,
    '```sh\nnpm run simulate -- --write      # this page\nnpm run simulate -- --quick      # the same tables in seconds, on the terminal\nnpm run simulate -- --help\n```',
    '## Objectives',
    grid(objectiveTable(all)),
    'Thresholds that cannot be met:',
    reasons(all)
      .map((reason) => `- ${reason}`)
      .join('\n'),
    '## What is simulated',
    model,
    '## p95 of all calls, relative to the same calls without faults',
    'Bold: within +35 %. *Success* is the lowest and *load* the highest of the row; *slowest* is the slowest call.',
    ...cells.map((table) => renderMarkdown(table, 3)),
    hedgedBaseline(results),
    '### p95 with fast faults as a chart',
    p95Bars(results),
    ...others.map((table) => renderMarkdown(table)),
    '## Why the preset has these numbers',
    `Shipped in the \`stac\` preset: ${shippedNumbers()}. Each table below changes one setting at a time; \`npm run simulate -- --sweep alpha\` (or ${sweepNames.slice(1).join(', ')}) prints one of them.`,
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

/** The stricter comparison: hedging lowers the p95 without faults too. */
function hedgedBaseline(results: Results): string {
  const pairs = baselines.map((p95Ms) => ({
    without: cell.of(results, 'none', p95Ms, 'hedged')?.ratio ?? Number.NaN,
    mix: cell.of(results, 'mix', p95Ms, 'hedged')?.ratio ?? Number.NaN,
  }));
  const lowered = change(Math.max(...pairs.map(({ without }) => without)));
  const strictly = change(Math.max(...pairs.map(({ without, mix }) => mix / without)));
  return `Hedging changes the p95 without faults too (by ${lowered} or more). Relative to that baseline, its highest figure in the last table is ${strictly}.`;
}

function sweepSection(name: (typeof sweepNames)[number], results: Results): string {
  const table = sweepTable(sweeps[name], results);
  return `${renderMarkdown(table, 3)}\n${sweeps[name].explanation(quoteFrom(table))}`;
}

const model = `- **Kernel**: the real one, \`withResilience\` with the \`stac\` preset on a virtual clock with a seeded random source. It measures the median that scales the jitter itself, from a cold start.
- **Upstream**: lognormal latency (σ 0.5) with the p95 in the column head. Each request fails with a probability of 20 %, independently. A fault takes 0.1× the time of the answer it replaces (*fast*), half, or the *same* time; in the *mix* one fault in five sends no byte until the client times out, the other four are fast.
- **Calls** arrive at random times, ${PER_SECOND} a second at every baseline, so between 0.2 (5 ms) and 100 (2 s) are in flight. The upstream has no queue: more load does not make it slower, which favours hedging. Closed loops of 8 and 64 callers, and 2 and 2000 calls a second, are among the other conditions.
- **Common random numbers**: the latency and fault of request *m* of call *n* are a hash of the seed, *n* and *m*, so every policy meets the same upstream.
- **p95** is that of *all* calls, failed calls included, relative to that of the same calls without faults. The baseline is the same for all policies, hedged ones too.
- **Other libraries** are modelled by their default policies in the same loop; a test runs six scripts through each real package on fake timers and through its model, and compares the time of every request. All time out an attempt after ${duration(ATTEMPT_TIMEOUT_MS)} as our preset does (their own defaults: none, 300 s, 10 s). undici and ky do not retry after a timeout.
- **Load** is counted at the upstream: requests for each call.
- **Not simulated**: a machine under load, timer resolution, sockets. On a real server at 5 ms these cost more than any policy.`;

/** The numbers of the preset that were tuned with this simulator. */
export function shippedNumbers(): string {
  const { medianScale, budget, breaker } = presets.stac;
  return `\`${JSON.stringify({ medianScale, budget, breaker })}\``;
}

const WIDTH = 48;
/** A full bar: 1000 times the p95 without faults. */
const FULL = 1000;

/** p95 with fast faults as bars on a logarithmic scale. */
function p95Bars(results: Results): string {
  const widest = Math.max(...comparedVariants.map((variant) => variants[variant].title.length));
  const lines = baselines.flatMap((p95Ms) => [
    `baseline p95: ${duration(p95Ms)}`,
    ...comparedVariants.flatMap((variant) => {
      const ratio = cell.of(results, 'fast', p95Ms, variant)?.ratio;
      if (ratio === undefined) return [];
      return [`  ${variants[variant].title.padEnd(widest)} ${bar(ratio)} ${change(ratio)}`];
    }),
    '',
  ]);
  const mark = `${' '.repeat(widest + 3 + places(P95_THRESHOLD))}┆ the threshold: ${change(P95_THRESHOLD)}`;
  return ['```text', ...lines, mark, '```'].join('\n');
}

function bar(ratio: number): string {
  return '█'.repeat(Math.max(0, places(ratio))) || '▏';
}

function places(ratio: number): number {
  return Math.round((WIDTH * Math.log(Math.max(1, ratio))) / Math.log(FULL));
}

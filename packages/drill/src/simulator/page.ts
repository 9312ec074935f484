import { presets } from '@toolkeel/kernel';
import { leftOut, objectiveTable, reasons } from '../report/objectives.js';
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
import { baselines, cellId, comparedVariants, PER_SECOND, type PlanOptions } from './plan.js';
import { sweepNames, sweeps, sweepTable } from './sweeps.js';
import { cellList, cellTables, quoteFrom, reasoning, tablesOf } from './tables.js';
import { variants, ATTEMPT_TIMEOUT_MS } from './variants.js';

/** All tables, and at the end how we stand. */
export function renderReport({ seed, calls }: PlanOptions, results: Results, paint: Paint): string {
  const all = objectives(results);
  return [
    `${calls.toLocaleString('en')} calls a cell, seed ${seed}. p95 of all calls, against the same calls without faults.`,
    '',
    ...tablesOf(results).map((table) => renderTable(table, paint)),
    renderTable(objectiveTable(all), paint),
    ...reasons(all).flatMap((reason) => wrap(reason)),
    ...leftOut(all),
    '',
  ].join('\n');
}

/** Everything that was measured, for a machine. */
export function renderJson(
  { seed, calls }: PlanOptions,
  jobs: readonly Job[],
  results: Results,
): string {
  const judged = objectives(results).filter(({ status }) => status !== 'not run');
  const all = { seed, calls, objectives: judged, results: results.inOrderOf(jobs) };
  return `${JSON.stringify(all, null, 2)}\n`;
}

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
    'Where a threshold cannot be met:',
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

/** What is simulated. */
export const model = `- **The kernel is the real one**: \`guard\` with the \`stac\` preset on a virtual clock with a seeded random source. The median that scales the jitter is the one it observes itself, from a cold start; nobody tells it the true one.
- **The upstream** answers after a lognormal time (σ 0.5) with the p95 that the column names. Each request that arrives fails with a probability of 20 %, independently. A fault takes 0.1× the time of the answer it replaces (*fast*), half, or the *same*; *mix*: one fault in five sends no byte until somebody's clock ends it, the other four are fast.
- **Calls** come at random times, ${PER_SECOND} a second whatever the baseline, so that between 0.2 (5 ms) and 100 (2 s) are under way at a time. The upstream has no queue: more load does not make it slower, which flatters hedging. Closed loops of 8 and 64 callers, 2 and 2000 calls a second are among the other circumstances.
- **Every policy meets the same luck.** Latency and fault of request *m* of call *n* are a hash of the seed, *n* and *m*.
- **p95** is that of *all* calls, failed ones included, against that of the same calls without faults. The baseline is the same for all policies, hedged ones too.
- **Rivals** are their default policies in the same loop; a test plays six scripts through each real package on fake timers and through its model, and compares every request's time. All cut an attempt off after ${duration(ATTEMPT_TIMEOUT_MS)} as our preset does (their own: none, 300 s, 10 s). undici and ky do not try again after a timeout.
- **Load** is what the upstream counted: requests for each call.
- **Not shown**: a machine under load, timers of whole milliseconds, sockets. On a real server at 5 ms these cost more than any policy.`;

/** The numbers that were chosen here. */
export function shippedNumbers(): string {
  const { medianScale, budget, breaker } = presets.stac;
  return `\`${JSON.stringify({ medianScale, budget, breaker })}\``;
}

const WIDTH = 48;
/** A threshold of full width: 1000 times the p95 without faults. */
const FULL = 1000;

/** p95 with fast faults as bars. Each step to the right costs the same factor, not the same time. */
export function p95Bars(results: Results): string {
  const widest = Math.max(...comparedVariants.map((variant) => variants[variant].title.length));
  const lines = baselines.flatMap((p95Ms) => [
    `upstream’s own p95: ${duration(p95Ms)}`,
    ...comparedVariants.flatMap((variant) => {
      const cell = results.get('cell', cellId('fast', p95Ms, variant));
      if (cell === undefined) return [];
      return [
        `  ${variants[variant].title.padEnd(widest)} ${bar(cell.ratio)} ${change(cell.ratio)}`,
      ];
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

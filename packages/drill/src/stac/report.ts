import {
  ATTEMPTS_THRESHOLD,
  P95_THRESHOLD,
  SUCCESS_THRESHOLD,
  SUCCESS_THEORY,
} from '../simulator/objectives.js';
import { variantOf, DEVIATIONS, type Measured, type ToolFigures } from './measure.js';
import {
  change,
  figure,
  type Figure,
  grid,
  percent,
  plain,
  renderMarkdown,
  type Table,
  times,
} from '../report/table.js';
import { CALLS_PER_BLOCK } from './calls.js';
import {
  POOLED_CALLS,
  TOOL_CALLS,
  TOOL_SUCCESS_THRESHOLD,
  WALL_SLACK_MS,
  exitCodeOf,
  judgeNoise,
  lastRuns,
  loadOf,
  noiseRule,
  withInterval,
} from './judge.js';
import { FAULT_RATE, SIGMA, TIMEOUT_SHARE } from './scenarios.js';
import { availableParallelism } from 'node:os';
import { notRun, objectiveTable, type Objective } from '../report/objectives.js';
import { renderTable, wrap, type Paint } from '../report/table.js';

/** All that a report is made of. */
export interface Report {
  readonly seed: number;
  readonly calls: number;
  readonly quick: boolean;
  /** Every run, also those that had to be made again. */
  readonly runs: readonly Measured[];
  readonly objectives: readonly Objective[];
  readonly tookMs: number;
}

/** Milliseconds to three figures: what is compared must not be rounded away. */
export function precise(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toPrecision(3)} s`;
  return `${ms < 100 ? ms.toPrecision(3) : ms.toFixed(0)} ms`;
}

/** `1`, or `1–6` where calls differ. */
export function range([from, to]: readonly [number, number]): string {
  return from === to ? String(from) : `${from}–${to}`;
}

/** How it is measured: as much as is needed to doubt it. Markdown without anything but emphasis. */
export const method: readonly string[] = [
  '**What runs.** `toolkeel serve stac` as a process, the official MCP client over stdio, and a STAC API on real sockets in a thread of its own that fails on command. Every variant has a server process and upstreams of its own, so that budgets, breakers and known latencies are not shared.',
  `**Latency and faults.** Lognormal (σ ${SIGMA}) with the p95 that the scenario names. Every request that arrives fails with ${percent(FAULT_RATE, 0)}, independently, in a tenth of the time of its answer: 500, 502, 503, 504, 429, a reset before or after the request was read, or half a body, all alike often. In the mix ${percent(TIMEOUT_SHARE, 0)} of the faults send no byte until the attempt’s own timeout ends them, and hedging is on.`,
  `**Calls.** Every call of a tool has other arguments. They go in blocks of ${CALLS_PER_BLOCK} calls of each tool, well mixed; the variants make a block at the same time, taking turns call by call, so that whatever else the machine does happens to all of them alike. In every variant the upstream draws the same latencies and faults for the same requests, so that variants differ by what is done about them.`,
  `**Whether it counts.** Fixed before the run: ${noiseRule}`,
  '**p95** is that of all calls of a scenario, failed ones included, against that of the same calls without faults and without hedging. Its 95 % interval is a bootstrap over blocks, the same blocks drawn for both variants.',
  `**Success** is an envelope that says so. *Requests* is what a call makes of the upstream when nothing fails, counted in its log. A request succeeds within ${ATTEMPTS_THRESHOLD} attempts with 1 − 0.2³ = ${percent(SUCCESS_THEORY)}. *Partial* are successes that say less than without faults, and say that they do: a federated search without one of its catalogues, a size without one of its files.`,
  '**The witness.** Before the run every call is made once, alone, to learn which requests it makes; no two calls of a block make the same. So each request in the upstream’s log belongs to one call: attempts are counted there, the retries that an envelope tells of must be the ones that arrived, a success must have been answered, and a failure must have been tried three times in vain.',
  '**Nothing is cached.** The pack has neither cache nor singleflight; the upstream sends no ETags. It does remember where a catalogue has its search and its collections, for five minutes, as in production: that is renewed between blocks. `get_root`, `get_conformance` and `get_catalog_capabilities` always read the first page, and each call of `get_queryables` names a catalogue never met before, so that it has to.',
  `**Bars.** Each tool ≥ ${percent(TOOL_SUCCESS_THRESHOLD, 0)} of ${TOOL_CALLS} calls; the tools of one request pooled ≥ ${percent(SUCCESS_THRESHOLD)}; a tool of k requests not below ${SUCCESS_THEORY}ᵏ less ${DEVIATIONS} binomial standard deviations, over all latencies; p95 within ${change(P95_THRESHOLD)}; a call within its cap and ${WALL_SLACK_MS} ms; at most ${ATTEMPTS_THRESHOLD} attempts at a request; no envelope that breaks its schema.`,
  '**Good to know.** Half of an empty body is all of it: for HEAD requests one fault in eight is not felt. The server draws its jitter unseeded, so that times differ a little between runs of one seed; the faults do not.',
];

/** Every tool of a scenario, and all of them together. */
export function toolTable(run: Measured): Table {
  return {
    title: `${run.scenario.title}: every tool`,
    lead: '',
    head: [
      'tool',
      'requests',
      'success',
      'partial',
      'attempts',
      'p50',
      'with faults',
      'p95',
      'with faults',
      'change',
      'slowest',
    ],
    rows: [...run.tools.map((tool) => toolRow(tool, run)), pooledRow(run)],
  };
}

function toolRow(tool: ToolFigures, { scenario }: Measured): Figure[] {
  const { baseline, faulted, calls } = tool;
  const isJudged = scenario.mode === 'fast' && calls >= TOOL_CALLS;
  const meets = (share: number): boolean => share >= TOOL_SUCCESS_THRESHOLD;
  return [
    plain(tool.tool),
    plain(range(tool.requests)),
    figure(faulted.successes / calls, (share) => percent(share), isJudged ? meets : undefined),
    plain(String(faulted.incomplete)),
    figure(faulted.mostAttempts, String, (most) => most <= ATTEMPTS_THRESHOLD),
    plain(precise(baseline.p50Ms)),
    plain(precise(faulted.p50Ms)),
    plain(precise(baseline.p95Ms)),
    plain(precise(faulted.p95Ms)),
    plain(change(tool.ratio)),
    plain(precise(Math.max(baseline.maxMs, faulted.maxMs))),
  ];
}

function pooledRow(run: Measured): Figure[] {
  const [baseline, faulted] = [variantOf(run, 'baseline'), variantOf(run, 'faulted')];
  const { ratio } = run.ratios.faulted!;
  const isJudged = faulted.calls >= POOLED_CALLS && judgeNoise(run).counts;
  return [
    plain('all calls'),
    plain((baseline.requests / baseline.calls).toFixed(2)),
    plain(percent(faulted.successes / faulted.calls)),
    plain(String(faulted.incomplete)),
    figure(faulted.mostAttempts, String, (most) => most <= ATTEMPTS_THRESHOLD),
    plain(precise(baseline.p50Ms)),
    plain(precise(faulted.p50Ms)),
    plain(precise(baseline.p95Ms)),
    plain(precise(faulted.p95Ms)),
    figure(ratio, change, isJudged ? (one) => one <= P95_THRESHOLD : undefined),
    plain(precise(Math.max(baseline.maxMs, faulted.maxMs))),
  ];
}

/** Whether each run counts, and what else there is to know about it. */
export function runTable(runs: readonly Measured[]): Table {
  return {
    title: 'The runs',
    lead: '',
    head: [
      'scenario',
      'p95 with faults',
      'the baseline again',
      'counts',
      'load',
      'hedges',
      'our side',
      'callers',
      'took',
    ],
    rows: runs.map((run) => {
      const { ratio, counts } = judgeNoise(run);
      return [
        plain(run.scenario.title),
        plain(withInterval(run.ratios.faulted!)),
        plain(withInterval(ratio)),
        { text: counts ? 'yes' : 'no', tone: counts ? 'good' : 'bad' },
        plain(times(loadOf(run))),
        plain(String(variantOf(run, 'faulted').hedges)),
        plain(precise(run.overheadMs)),
        plain(String(run.scenario.callers)),
        plain(`${(run.tookMs / 1000).toFixed(0)} s`),
      ];
    }),
  };
}

/** The report as a page of the documentation. */
export function renderPage(report: Report): string {
  const { seed, calls, runs, objectives, tookMs } = report;
  const wrapped = runTable(runs);
  return [
    '# Drill: STAC',
    `Every STAC tool of a running server, over MCP on stdio, while its upstream fails: ${calls} calls of each tool in each variant, seed ${seed}, ${(tookMs / 60_000).toFixed(0)} minutes on ${availableParallelism()} vCPU with Node.js ${process.versions.node.split('.')[0]}; how much else went on there, the second measurement of the baseline tells. Written by`,
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

/** Everything that was measured, for a machine. */
export function renderJson({ seed, calls, quick, runs, objectives, tookMs }: Report): string {
  const all = {
    seed,
    calls,
    quick,
    tookMs,
    node: process.version,
    cores: availableParallelism(),
    noiseRule,
    exitCode: exitCodeOf(objectives),
    objectives,
    runs: runs.map((run) => ({
      ...run,
      tools: run.tools.map(({ chances: _, ...tool }) => tool),
      load: loadOf(run),
      counts: judgeNoise(run).counts,
    })),
  };
  return `${JSON.stringify(all, null, 2)}\n`;
}

/** All tables, and at the end how we stand. */
export function renderTerminal(report: Report, paint: Paint): string {
  const { seed, calls, runs, objectives } = report;
  return [
    `${calls} calls a tool and variant over MCP on stdio, seed ${seed}.`,
    ...wrap(noiseRule),
    '',
    ...lastRuns(runs).map((run) => renderTable(toolTable(run), paint)),
    renderTable(runTable(runs), paint),
    renderTable(objectiveTable(objectives), paint),
    ...notRun(objectives),
    ...troubles(report),
    verdictOf(report),
    '',
  ].join('\n');
}

const SHOWN = 5;

/** The first few of what must never happen, in the words of who noticed. */
function troubles({ runs }: Report): string[] {
  const variants = runs.flatMap((run) => run.variants);
  const all = variants.flatMap(({ mismatches, contradictions }) => [
    ...mismatches,
    ...contradictions,
  ]);
  const more = all.length > SHOWN ? [`… and ${all.length - SHOWN} more`] : [];
  return [...all.slice(0, SHOWN), ...more];
}

export function verdictOf({ objectives, quick }: Report): string {
  if (exitCodeOf(objectives) === 1) return 'A threshold is missed.';
  if (exitCodeOf(objectives) === 3) {
    return 'The machine was too noisy: two variants that do the same differ too much. The run does not count.';
  }
  return quick ? 'It works. Nothing was timed.' : 'Every threshold is met.';
}

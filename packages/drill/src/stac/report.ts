import { availableParallelism } from 'node:os';
import { notRun, objectiveTable, type Objective } from '../report/objectives.js';
import {
  change,
  figure,
  type Figure,
  grid,
  type Paint,
  percent,
  plain,
  renderMarkdown,
  renderTable,
  type Table,
  times,
  wrap,
} from '../report/table.js';
import {
  ATTEMPTS_THRESHOLD,
  P95_THRESHOLD,
  SUCCESS_THEORY,
  SUCCESS_THRESHOLD,
} from '../simulator/objectives.js';
import { CALLS_PER_BLOCK } from './calls.js';
import {
  exitCodeOf,
  judgeNoise,
  lastRuns,
  loadOf,
  noiseRule,
  POOLED_CALLS,
  TOOL_CALLS,
  TOOL_SUCCESS_THRESHOLD,
  WALL_SLACK_MS,
  withInterval,
} from './judge.js';
import { DEVIATIONS, type Measured, type ToolFigures, variantOf } from './measure.js';
import { FAULT_RATE, SIGMA, TIMEOUT_SHARE } from './scenarios.js';

/** The content of every report format. */
export interface Report {
  readonly seed: number;
  readonly calls: number;
  readonly quick: boolean;
  /** Every run, including those that were repeated. */
  readonly runs: readonly Measured[];
  readonly objectives: readonly Objective[];
  readonly tookMs: number;
}

/** Milliseconds with three significant digits, so that compared values stay distinguishable. */
export function precise(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toPrecision(3)} s`;
  return `${ms < 100 ? ms.toPrecision(3) : ms.toFixed(0)} ms`;
}

/** `1`, or `1–6` if calls differ. */
export function range([from, to]: readonly [number, number]): string {
  return from === to ? String(from) : `${from}–${to}`;
}

/** The method, in Markdown with emphasis only, for the Markdown and the HTML report. */
export const method: readonly string[] = [
  '**Setup.** `toolkeel serve stac` as a process, the official MCP client over stdio, and a STAC API with fault injection on real sockets in a worker thread. Every variant has its own server process and upstreams, so that budgets, breakers and latency samples are not shared.',
  `**Latency and faults.** Lognormal latency (σ ${SIGMA}) with the p95 of the scenario. Every request fails with a probability of ${percent(FAULT_RATE, 0)}, independently, after a tenth of the time of its answer: 500, 502, 503, 504, 429, a connection reset before or after the request was read, or half a body, with equal probability. In the mix ${percent(TIMEOUT_SHARE, 0)} of the faults send no byte until the attempt times out, and hedging is enabled.`,
  `**Calls.** Every call of a tool has different arguments. Calls are made in shuffled blocks of ${CALLS_PER_BLOCK} calls of each tool; the variants make a block at the same time, taking turns call by call, so that other load on the machine affects all of them alike. The upstreams of all variants draw the same latencies and faults for the same requests.`,
  `**Noise rule.** Fixed before the run: ${noiseRule}`,
  '**p95** is that of all calls of a scenario, failed calls included, relative to that of the same calls without faults and hedging. Its 95 % interval is a bootstrap over blocks, with the same blocks drawn for both variants.',
  `**Success** is read from the envelope. *Requests* is the number of upstream requests of a call without faults, counted in the upstream’s log. A request succeeds within ${ATTEMPTS_THRESHOLD} attempts with 1 − 0.2³ = ${percent(SUCCESS_THEORY)}. *Partial* are successes with less data than without faults that report the omission: a federated search without one of its catalogues, a size without one of its files.`,
  '**Upstream log check.** A dry run makes every call once to record its requests; no two calls of a block make the same request. So each request in the upstream’s log belongs to one call: attempts are counted there, the retries that an envelope reports must equal those that arrived, a success must have been answered, and a failure must have had three failed attempts.',
  '**No caching.** The pack has neither a cache nor request coalescing; the upstream sends no ETags. The pack keeps the links of a catalogue’s landing page for five minutes, as in production; the drill refreshes them between blocks. `get_root`, `get_conformance` and `get_catalog_capabilities` always read the landing page, and each call of `get_queryables` names a new catalogue, so that it reads the landing page too.',
  `**Thresholds.** Each tool ≥ ${percent(TOOL_SUCCESS_THRESHOLD, 0)} of ${TOOL_CALLS} calls; single-request tools pooled ≥ ${percent(SUCCESS_THRESHOLD)}; a tool of k requests ≥ ${SUCCESS_THEORY}ᵏ less ${DEVIATIONS} binomial standard deviations, over all latencies; p95 within ${change(P95_THRESHOLD)}; wall time within the call timeout plus ${WALL_SLACK_MS} ms; at most ${ATTEMPTS_THRESHOLD} attempts at a request; no envelope that violates its schema.`,
  '**Limitations.** Half of an empty body is the whole body, so one fault in eight has no effect on HEAD requests. The server’s jitter is not seeded, so that times differ slightly between runs with the same seed; the faults do not.',
];

/** Every tool of a scenario, and all calls together. */
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

type Timings = Pick<ToolFigures['baseline'], 'p50Ms' | 'p95Ms' | 'maxMs'>;

function toolRow(tool: ToolFigures, { scenario }: Measured): Figure[] {
  const { baseline, faulted, calls } = tool;
  const isJudged = scenario.mode === 'fast' && calls >= TOOL_CALLS;
  const meets = (share: number): boolean => share >= TOOL_SUCCESS_THRESHOLD;
  return [
    plain(tool.tool),
    plain(range(tool.requests)),
    figure(faulted.successes / calls, (share) => percent(share), isJudged ? meets : undefined),
    ...sharedFigures(baseline, faulted, plain(change(tool.ratio))),
  ];
}

function pooledRow(run: Measured): Figure[] {
  const [baseline, faulted] = [variantOf(run, 'baseline'), variantOf(run, 'faulted')];
  const { ratio } = run.ratios.faulted!;
  const isJudged = faulted.calls >= POOLED_CALLS && judgeNoise(run).counts;
  const ratioFigure = figure(ratio, change, isJudged ? (one) => one <= P95_THRESHOLD : undefined);
  return [
    plain('all calls'),
    plain((baseline.requests / baseline.calls).toFixed(2)),
    plain(percent(faulted.successes / faulted.calls)),
    ...sharedFigures(baseline, faulted, ratioFigure),
  ];
}

function sharedFigures(
  baseline: Timings,
  faulted: Timings & { readonly incomplete: number; readonly mostAttempts: number },
  ratio: Figure,
): Figure[] {
  return [
    plain(String(faulted.incomplete)),
    figure(faulted.mostAttempts, String, (most) => most <= ATTEMPTS_THRESHOLD),
    ...[baseline.p50Ms, faulted.p50Ms, baseline.p95Ms, faulted.p95Ms].map((ms) =>
      plain(precise(ms)),
    ),
    ratio,
    plain(precise(Math.max(baseline.maxMs, faulted.maxMs))),
  ];
}

/** The figures of each run, and whether it counts. */
export function runTable(runs: readonly Measured[]): Table {
  return {
    title: 'Runs',
    lead: '',
    head: [
      'scenario',
      'p95 with faults',
      'second baseline',
      'counts',
      'load',
      'hedges',
      'overhead',
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

/** The report as Markdown. */
export function renderPage(report: Report): string {
  const { seed, calls, runs, objectives, tookMs } = report;
  return [
    '# Drill: STAC',
    `Every STAC tool of a running server, over MCP on stdio, while its upstream injects faults: ${calls} calls of each tool in each variant, seed ${seed}, ${(tookMs / 60_000).toFixed(0)} minutes on ${availableParallelism()} vCPU with Node.js ${process.versions.node.split('.')[0]}. The second baseline shows the noise of the machine. Written by`,
    '```sh\nnpm run drill:stac -- --markdown docs/drill-stac.md\n```',
    `**${resultOf(report)}**`,
    '## Objectives',
    grid(objectiveTable(objectives)),
    '## Runs',
    'Change of the p95 relative to the baseline, with its 95 % interval. *Load*: requests for each request without faults. *Overhead*: the time that the server adds to the upstream’s latency, median of single-request calls without faults.',
    grid(runTable(runs)),
    '## Every tool',
    ...lastRuns(runs).map((run) =>
      renderMarkdown({ ...toolTable(run), title: run.scenario.title }, 3),
    ),
    '## Method',
    method.map((part) => `- ${part}`).join('\n'),
  ]
    .map((part) => part.trimEnd())
    .join('\n\n')
    .concat('\n');
}

/** Every figure as JSON. */
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

/** All tables, then the objectives and the result. */
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
    ...violations(report),
    resultOf(report),
    '',
  ].join('\n');
}

const MAX_SHOWN = 5;

/** The first invalid envelopes and contradictions. */
function violations({ runs }: Report): string[] {
  const variants = runs.flatMap((run) => run.variants);
  const all = variants.flatMap(({ mismatches, contradictions }) => [
    ...mismatches,
    ...contradictions,
  ]);
  const more = all.length > MAX_SHOWN ? [`… and ${all.length - MAX_SHOWN} more`] : [];
  return [...all.slice(0, MAX_SHOWN), ...more];
}

export function resultOf({ objectives, quick }: Report): string {
  if (exitCodeOf(objectives) === 1) return 'A threshold is missed.';
  if (exitCodeOf(objectives) === 3) {
    return 'The machine was too noisy: two identical variants differ too much. The run does not count.';
  }
  return quick ? 'All tools work. Latency was not judged.' : 'Every threshold is met.';
}

import {
  DrillError,
  listOf,
  oneOf,
  parseFlags,
  ProgressLine,
  runCommand,
  UsageError,
  wholeNumber,
  type CommandIo,
} from '../cli/command-line.js';
import { CALLS_PER_BLOCK, type ToolName, toolNames } from './calls.js';
import { scenario, type FaultMode, type Scenario } from './scenarios.js';
import { painter } from '../report/table.js';
import { exitCodeOf, stacObjectives } from './judge.js';
import { renderHtml } from './report-html.js';
import { renderJson, renderPage, renderTerminal, type Report } from './report.js';
import type { ServerOptions } from './rig.js';
import { runDrill } from './run.js';

export interface Options {
  readonly seed: number;
  readonly calls: number;
  readonly tools: readonly ToolName[];
  readonly scenarios: readonly Scenario[];
  /** Too few calls for anything but whether it all works. */
  readonly quick: boolean;
  readonly json: string | undefined;
  readonly html: string | undefined;
  readonly markdown: string | undefined;
  readonly help: boolean;
}

export const FULL_CALLS = 200;
export const QUICK_CALLS = 4;
/** The catalogue has items for so many. */
const MOST_CALLS = 800;
export const LATENCIES = [50, 200, 1000] as const;
export const QUICK_LATENCY = 50;
/** Where the mix is drilled. */
export const MIX_LATENCY = 200;
const modes = ['fast', 'mix'] as const satisfies FaultMode[];

const known = {
  calls: { type: 'string' },
  seed: { type: 'string' },
  latency: { type: 'string' },
  faults: { type: 'string' },
  tools: { type: 'string' },
  quick: { type: 'boolean' },
  json: { type: 'string' },
  html: { type: 'string' },
  markdown: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

export function readArgs(args: readonly string[]): Options {
  const { quick = false, help = false, json, html, markdown, ...said } = parseFlags(args, known);
  const latencies = listOf(said.latency)?.map((text) => wholeNumber('--latency', text, 5, 5000)!);
  const faults = listOf(said.faults)?.map((text) => oneOf('--faults', text, modes));
  const chosen = listOf(said.tools)?.map((text) => oneOf('--tools', text, toolNames));
  const calls = wholeNumber('--calls', said.calls, CALLS_PER_BLOCK, MOST_CALLS);
  return {
    seed: wholeNumber('--seed', said.seed, 0, 2 ** 31) ?? 1,
    calls: inBlocks(calls ?? (quick ? QUICK_CALLS : FULL_CALLS)),
    tools: chosen ? toolNames.filter((tool) => chosen.includes(tool)) : toolNames,
    scenarios: scenariosFor(faults ?? (quick ? ['fast'] : modes), latencies, quick),
    quick,
    json,
    html,
    markdown,
    help,
  };
}

/** The mix is drilled at its own latency, unless others are asked for. */
function scenariosFor(
  faults: readonly FaultMode[],
  latencies: readonly number[] | undefined,
  quick: boolean,
): Scenario[] {
  const usual = { fast: LATENCIES, mix: [MIX_LATENCY] } as const;
  return modes
    .filter((mode) => faults.includes(mode))
    .flatMap((mode) => {
      const wanted = latencies ?? (quick ? [QUICK_LATENCY] : usual[mode]);
      return [...new Set(wanted)].map((p95Ms) => scenario(mode, p95Ms));
    });
}

/** Every tool has the same number of calls in every block. */
function inBlocks(calls: number): number {
  return Math.ceil(calls / CALLS_PER_BLOCK) * CALLS_PER_BLOCK;
}

export const help = `Starts real STAC servers, calls every tool over MCP on stdio while their upstream fails on
command, and holds what comes back against the objectives. The upstream's own log is the witness.

  npm run drill:stac -- [options]

  --calls N           calls of each tool in each variant (default ${FULL_CALLS})
  --latency MS,…      p95 of the upstream's own answers (default ${LATENCIES.join(',')}; with timeouts ${MIX_LATENCY})
  --faults KIND,…     fast, mix (one fault in five a timeout, hedging on); default both
  --tools NAME,…      only these of ${toolNames.length}: ${toolNames.slice(0, 3).join(', ')}, …
  --seed S            which catalogue and which luck (default 1)
  --quick             ${QUICK_CALLS} calls a tool at ${QUICK_LATENCY} ms: does it all work? Nothing is timed
  --json FILE         all figures, for a machine
  --html FILE         a page with pictures that needs nothing else
  --markdown FILE     a page for a repository
  -h, --help

Exit code: 0 if every threshold is met, 1 if one is missed, 2 for wrong usage, 3 if none is missed but the
machine was too noisy to judge the latency.

Example, two tools on a fast upstream:

  npm run drill:stac -- --tools get_item,search_items --latency 50 --faults fast
`;

interface StacDrillIo extends CommandIo {
  readonly write: (file: string, text: string) => void;
  /** Throws if a file could not be written. */
  readonly probe: (file: string) => void;
  /** How a server with the STAC tools is started. */
  readonly server: ServerOptions['command'];
}

export async function drillStac(args: readonly string[], io: StacDrillIo): Promise<number> {
  try {
    return await runCommand(args, io, {
      name: 'drill:stac',
      help,
      readOptions: readArgs,
      run: (options) => perform(options, io),
    });
  } catch (error) {
    if (!(error instanceof DrillError)) throw error;
    io.err(`${error.message}
`);
    return 1;
  }
}

async function perform(options: Options, io: StacDrillIo): Promise<number> {
  const { json, html, markdown } = options;
  for (const file of [json, html, markdown]) if (file !== undefined) probe(file, io);
  const line = new ProgressLine(io.progress ? io.err : undefined);
  const begun = performance.now();
  const runs = await runDrill({
    ...options,
    command: io.server,
    onProgress: (text) => line.show(text),
  }).finally(() => line.clear());
  const report: Report = {
    ...options,
    runs,
    objectives: stacObjectives(runs),
    tookMs: performance.now() - begun,
  };
  io.out(renderTerminal(report, painter(io.colours)));
  if (json !== undefined) io.write(json, renderJson(report));
  if (html !== undefined) io.write(html, renderHtml(report));
  if (markdown !== undefined) io.write(markdown, renderPage(report));
  return exitCodeOf(report.objectives);
}

/** Nobody should learn after a quarter of an hour that the folder does not exist. */
function probe(file: string, io: StacDrillIo): void {
  try {
    io.probe(file);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`${file} cannot be written: ${why}`, { cause });
  }
}

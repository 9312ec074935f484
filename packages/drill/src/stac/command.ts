import {
  DrillError,
  listOf,
  oneOf,
  parseFlags,
  ProgressLine,
  runCommand,
  UsageError,
  numberOf,
  type CommandIo,
} from '../cli/command-line.js';
import { CALLS_PER_BLOCK, toolNames } from './calls.js';
import { scenario, type FaultMode, type Scenario } from './scenarios.js';
import { painter } from '../report/table.js';
import { exitCodeOf, stacObjectives } from './judge.js';
import { renderHtml } from './report-html.js';
import { renderJson, renderPage, renderTerminal, type Report } from './report.js';
import type { ServerOptions } from '../mcp-server.js';
import { runDrill } from './run.js';

const FULL_CALLS = 200;
const QUICK_CALLS = 4;
/** Limited by the number of items in the catalogue. */
const MOST_CALLS = 800;
const LATENCIES = [50, 200, 1000] as const;
const QUICK_LATENCY = 50;
const MIX_LATENCY = 200;
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

export function readArgs(args: readonly string[]) {
  const { quick = false, help = false, json, html, markdown, ...values } = parseFlags(args, known);
  const latencies = listOf(values.latency)?.map((text) => numberOf('--latency', text, 5, 5000)!);
  const faults = listOf(values.faults)?.map((text) => oneOf('--faults', text, modes));
  const chosen = listOf(values.tools)?.map((text) => oneOf('--tools', text, toolNames));
  const calls = numberOf('--calls', values.calls, CALLS_PER_BLOCK, MOST_CALLS);
  return {
    seed: numberOf('--seed', values.seed, 0, 2 ** 31) ?? 1,
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

type Options = ReturnType<typeof readArgs>;

/** The mix has its own default latency. */
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

/** Rounds up to whole blocks: every block has the same number of calls of every tool. */
function inBlocks(calls: number): number {
  return Math.ceil(calls / CALLS_PER_BLOCK) * CALLS_PER_BLOCK;
}

const help = `Start real STAC servers, call every tool over MCP on stdio while the upstream injects faults, and
check the results against the objectives. The upstream's log is the ground truth.

  npm run drill:stac -- [options]

  --calls N           calls of each tool in each variant (default ${FULL_CALLS})
  --latency MS,…      p95 of the upstream's latency (default ${LATENCIES.join(',')}; with timeouts ${MIX_LATENCY})
  --faults KIND,…     fast, mix (one fault in five a timeout, hedging on); default both
  --tools NAME,…      call only these of ${toolNames.length} tools: ${toolNames.slice(0, 3).join(', ')}, …
  --seed S            random seed of the catalogue, latencies and faults (default 1)
  --quick             functional check: ${QUICK_CALLS} calls a tool at ${QUICK_LATENCY} ms, without judging latency
  --json FILE         write all figures as JSON
  --html FILE         write a self-contained HTML report with plots
  --markdown FILE     write a Markdown report
  -h, --help          show this help

Exit code: 0 if every threshold is met, 1 if one is missed, 2 for invalid usage, 3 if none is missed
but the machine was too noisy to judge the latency.

Example: two tools on a fast upstream

  npm run drill:stac -- --tools get_item,search_items --latency 50 --faults fast
`;

interface StacDrillIo extends CommandIo {
  readonly write: (file: string, text: string) => void;
  /** Throws if the file is not writable. */
  readonly probe: (file: string) => void;
  /** How to start a server with the STAC tools. */
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
    io.err(`${error.message}\n`);
    return 1;
  }
}

async function perform(options: Options, io: StacDrillIo): Promise<number> {
  const { json, html, markdown } = options;
  for (const file of [json, html, markdown]) if (file !== undefined) probe(file, io);
  const line = new ProgressLine(io.progress ? io.err : undefined);
  const startedAt = performance.now();
  const runs = await runDrill({
    ...options,
    command: io.server,
    onProgress: (text) => line.show(text),
  }).finally(() => line.clear());
  const report: Report = {
    ...options,
    runs,
    objectives: stacObjectives(runs),
    tookMs: performance.now() - startedAt,
  };
  io.out(renderTerminal(report, painter(io.colours)));
  if (json !== undefined) io.write(json, renderJson(report));
  if (html !== undefined) io.write(html, renderHtml(report));
  if (markdown !== undefined) io.write(markdown, renderPage(report));
  return exitCodeOf(report.objectives);
}

/** Fails before the run rather than after it if a file is not writable. */
function probe(file: string, io: StacDrillIo): void {
  try {
    io.probe(file);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`cannot write ${file}: ${why}`, { cause });
  }
}

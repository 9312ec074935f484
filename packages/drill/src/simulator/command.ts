import { availableParallelism } from 'node:os';
import {
  oneOf,
  parseFlags,
  ProgressLine,
  runCommand,
  UsageError,
  numberOf,
  type CommandIo,
} from '../cli/command-line.js';
import { painter, renderTable } from '../report/table.js';
import { type Job, type Results, runAll } from './jobs.js';
import { objectives } from './objectives.js';
import { renderJson, renderPage, renderReport } from './page.js';
import { fullPlan, matching } from './plan.js';
import { sweepJobs, sweepTable } from './measures.js';
import { sweepNames, sweeps } from './sweeps.js';

export const FULL_CALLS = 200_000;
export const QUICK_CALLS = 10_000;
/** The p95 of fewer calls is meaningless. */
const FEWEST_CALLS = 200;

const known = {
  calls: { type: 'string' },
  seed: { type: 'string' },
  quick: { type: 'boolean' },
  cells: { type: 'string' },
  sweep: { type: 'string' },
  json: { type: 'boolean' },
  write: { type: 'boolean' },
  threads: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

export function readArgs(args: readonly string[]) {
  const values = parseFlags(args, known);
  const { cells, sweep, json = false, write = false } = values;
  if (write && (cells !== undefined || sweep !== undefined)) {
    throw new UsageError('--write writes the whole page: remove --cells and --sweep');
  }
  if (cells !== undefined && sweep !== undefined) {
    throw new UsageError(
      '--cells selects from the table, --sweep prints another table: choose one',
    );
  }
  return {
    calls:
      numberOf('--calls', values.calls, FEWEST_CALLS, 10_000_000) ??
      (values.quick ? QUICK_CALLS : FULL_CALLS),
    seed: numberOf('--seed', values.seed, 0, 2 ** 32 - 1) ?? 1,
    cells,
    sweep: sweep === undefined ? undefined : oneOf('--sweep', sweep, sweepNames),
    json,
    write,
    threads: numberOf('--threads', values.threads, 1, 64),
    help: values.help ?? false,
  };
}

type Options = ReturnType<typeof readArgs>;

const help = `Simulate the stac preset and other retry policies against failing upstreams in virtual time, and
check the preset against its objectives. The same seed prints the same bytes.

  npm run simulate -- [options]

  --calls N         calls a cell (default ${FULL_CALLS}; other scenarios scale with it)
  --quick           run ${QUICK_CALLS} calls a cell: the whole table in seconds
  --seed S          random seed (default 1)
  --cells PATTERN   run only jobs whose id contains PATTERN (* matches anything): cell/fast, outage/*/ours
  --sweep NAME      compare alternative settings: ${sweepNames.join(', ')}
  --json            print results and objectives as JSON
  --write           write the full table and the sweeps to docs/simulation.md
  --threads N       worker threads (default: one for each core)
  -h, --help        show this help

Exit code: 0 if every attainable threshold is met, 1 if one is missed, 2 for invalid usage.

Example: all policies at 200 ms with fast faults

  npm run simulate -- --quick --cells cell/fast/200
`;

interface SimulatorIo extends CommandIo {
  /** Writes the page for `--write`. */
  readonly writePage: (text: string) => void;
}

export function simulate(args: readonly string[], io: SimulatorIo): Promise<number> {
  return runCommand(args, io, {
    name: 'simulate',
    help,
    readOptions: readArgs,
    run: (options) => perform(options, io),
  });
}

async function perform(options: Options, io: SimulatorIo): Promise<number> {
  const { calls, seed, cells, sweep } = options;
  if (sweep !== undefined) {
    const jobs = sweepJobs(sweeps[sweep], options);
    const results = await run(jobs, options, io);
    const table = sweepTable(sweeps[sweep], results);
    io.out(
      options.json ? renderJson(options, jobs, results) : renderTable(table, painter(io.colours)),
    );
    return 0;
  }
  const plan = fullPlan({ calls, seed });
  const jobs = cells === undefined ? plan : matching(plan, cells);
  if (jobs.length === 0) throw new UsageError(`--cells ${cells} matches nothing`);
  const tuning = options.write
    ? Object.values(sweeps).flatMap((one) => sweepJobs(one, options))
    : [];
  const results = await run([...jobs, ...tuning], options, io);
  if (options.json) io.out(renderJson(options, jobs, results));
  else io.out(renderReport(options, results, painter(io.colours)));
  if (options.write) io.writePage(renderPage(options, results));
  return objectives(results).some(({ status }) => status === 'missed') ? 1 : 0;
}

async function run(jobs: readonly Job[], options: Options, io: SimulatorIo): Promise<Results> {
  const line = new ProgressLine(io.progress ? io.err : undefined);
  const results = await runAll(jobs, {
    threads: options.threads ?? availableParallelism(),
    onDone: ({ id }, done, all) => line.show(`${done} of ${all} · ${id}`),
  });
  line.clear();
  return results;
}

import { availableParallelism } from 'node:os';
import { objectives } from '../objectives/index.js';
import { fullPlan, matching } from '../plan/index.js';
import { renderPage } from '../report/page.js';
import { renderJson } from '../report/json.js';
import { renderReport, renderTable, painter } from '../report/terminal.js';
import type { Job } from '../runs/job.js';
import type { Results } from '../runs/results.js';
import { sweepJobs, sweeps, sweepTable } from '../sweeps/index.js';
import { runAll } from '../threads/run-all.js';
import { readArgs, type Options } from './args.js';
import { help } from './help.js';
import { ProgressLine } from './progress.js';
import { UsageError } from './usage.js';

/** What the command is connected to. */
export interface Io {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Somebody is looking at `out`, or at `err`. */
  readonly colours: boolean;
  readonly progress: boolean;
  /** Where `--write` puts the page. */
  readonly writePage: (text: string) => void;
}

/** The command. Gives its exit code. */
export async function main(args: readonly string[], io: Io): Promise<number> {
  try {
    const options = readArgs(args);
    if (options.help) io.out(help);
    return options.help ? 0 : await perform(options, io);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    io.err(`${error.message}\n\nnpm run simulate -- --help says what can be asked for.\n`);
    return 2;
  }
}

async function perform(options: Options, io: Io): Promise<number> {
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
  return objectives(results).some(({ verdict }) => verdict === 'missed') ? 1 : 0;
}

async function run(jobs: readonly Job[], options: Options, io: Io): Promise<Results> {
  const line = new ProgressLine(io.progress ? io.err : undefined);
  const results = await runAll(jobs, {
    threads: options.threads ?? availableParallelism(),
    onDone: ({ id }, done, all) => line.show(`${done} of ${all} · ${id}`),
  });
  line.clear();
  return results;
}

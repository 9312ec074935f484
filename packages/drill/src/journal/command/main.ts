import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProgressLine } from '../../cli/progress.js';
import { UsageError } from '../../cli/usage.js';
import { storm, type StormPlan } from '../drive/storm.js';
import { add, broken, nothing, tallyOf, type Tally } from '../drive/tally.js';
import { joinedLaunch, type Launch } from '../server/joined.js';
import type { ServerSettings } from '../server/settings.js';
import { startUpstreamProcess } from '../upstream/process.js';
import { help, readArgs, type JournalDrillOptions } from './args.js';
import { journalPage, type Run } from './page.js';

export interface JournalDrillIo {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly progress: boolean;
}

const SERVERS = 4;
const CALLERS = 25;
/** Two callers for each act, and never two of one process. */
const GROUPS = (SERVERS * CALLERS) / 2;
/** Acts of a round: long enough that starting the servers hardly counts. */
const ROUND = 400;
const CALL_MS = 15_000;

/** The command. Gives its exit code. */
export async function drillJournal(args: readonly string[], io: JournalDrillIo): Promise<number> {
  try {
    const options = readArgs(args);
    if (options.help) io.out(help);
    return options.help ? 0 : await perform(options, io);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    io.err(`${error.message}\n\nnpm run drill:journal -- --help says what can be asked for.\n`);
    return 2;
  }
}

async function perform(options: JournalDrillOptions, io: JournalDrillIo): Promise<number> {
  const former = options.resume ? readRuns(options.json) : [];
  const launch = await joinedLaunch();
  const control = await controlStorm(options, launch);
  io.out(`control, without a journal: ${control.duplicates} of ${control.acts} acts done twice\n`);
  if (control.duplicates === 0) {
    io.err('The control shows no duplicates, so this storm would prove nothing. Raise --faults.\n');
    return 1;
  }
  const keep = (total: Tally): readonly Run[] => {
    const runs = [...former, runOf(options, control, total)];
    if (options.json) writeFileSync(options.json, `${JSON.stringify(runs, null, 2)}\n`);
    return runs;
  };
  const total = await rounds(options, launch, io, keep);
  const runs = keep(total);
  const all = runs.reduce((sum, run) => add(sum, run.total), nothing);
  const controls = runs.reduce((sum, run) => add(sum, run.control), nothing);
  const page = journalPage(runs, all, controls);
  if (options.markdown) writeFileSync(options.markdown, page);
  io.out(`\n${page}`);
  return broken(all).length === 0 ? 0 : 1;
}

async function rounds(
  options: JournalDrillOptions,
  launch: Launch,
  io: JournalDrillIo,
  keep: (total: Tally) => unknown,
): Promise<Tally> {
  const line = new ProgressLine(io.progress ? io.err : undefined);
  const until = performance.now() + options.minutes * 60_000;
  let total = nothing;
  let round = 0;
  await within(options, options.faultRate, async (settings, upstream) => {
    while (total.acts < options.acts || total.deaths < options.deaths) {
      if (performance.now() > until) break;
      round += 1;
      const before = await upstream.counts();
      const plan = { ...planOf(`${options.seed}.${round}`, options, round), launch, until };
      const result = await storm(plan, settings, (calls, deaths) =>
        line.show(
          `${total.acts} acts · ${total.deaths + deaths} deaths · ${total.calls + calls} calls`,
        ),
      );
      total = add(total, tallyOf(result, before, await upstream.counts()));
      for (const each of [...result.refusals, ...result.unknowns].slice(0, 5)) io.err(`${each}\n`);
      keep(total);
    }
  });
  line.clear();
  return total;
}

/** The same storm on servers without a journal. */
async function controlStorm(options: JournalDrillOptions, launch: Launch): Promise<Tally> {
  return within(options, Math.max(options.faultRate, 0.1), async (settings, upstream) => {
    const plan = { ...planOf('control', options, 0), actsPerCaller: 4, launch };
    const before = await upstream.counts();
    const result = await storm(plan, { ...settings, journal: 'off' }, () => undefined);
    return tallyOf(result, before, await upstream.counts());
  });
}

/** Kills are paced so that both goals are reached together. */
function planOf(name: string, options: JournalDrillOptions, seed: number): StormPlan {
  return {
    servers: SERVERS,
    callersPerServer: CALLERS,
    groups: GROUPS,
    actsPerCaller: ROUND,
    tools: ['act'],
    killEveryCalls: Math.max(1, Math.round((2 * options.acts) / Math.max(1, options.deaths))),
    timeoutMs: CALL_MS + 5_000,
    seed: options.seed * 1000 + seed,
    name,
  };
}

type Upstream = Awaited<ReturnType<typeof startUpstreamProcess>>;

async function within<T>(
  { store, seed }: JournalDrillOptions,
  faultRate: number,
  run: (settings: ServerSettings, upstream: Upstream) => Promise<T>,
): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'toolkeel-drill-'));
  const upstream = await startUpstreamProcess({ log: join(dir, 'effects.jsonl'), seed, faultRate });
  try {
    const journal = store === 'sqlite' ? `sqlite:${join(dir, 'journal.db')}` : store;
    const settings = {
      upstream: upstream.url,
      journal,
      dataDir: dir,
      leaseMs: 5_000,
      callTimeoutMs: CALL_MS,
    };
    return await run(settings, upstream);
  } finally {
    await upstream.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

function runOf(options: JournalDrillOptions, control: Tally, total: Tally): Run {
  const { seed, faultRate } = options;
  return {
    at: new Date().toISOString(),
    seed,
    store: options.store === 'sqlite' ? 'sqlite' : 'postgres',
    node: process.version,
    faultRate,
    control,
    total,
  };
}

function readRuns(file: string | undefined): readonly Run[] {
  if (file === undefined || !existsSync(file)) return [];
  return JSON.parse(readFileSync(file, 'utf8')) as readonly Run[];
}

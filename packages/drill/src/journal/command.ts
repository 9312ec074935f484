import {
  decimalNumber,
  parseFlags,
  ProgressLine,
  runCommand,
  UsageError,
  type CommandIo,
} from '../cli/command-line.js';
import { add, broken, nothing, storm, type StormPlan, type Tally, tallyOf } from './storm.js';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { joinedLaunch, type Launch } from './server/joined.js';
import type { ServerSettings } from './server/faults.js';
import { startUpstreamProcess } from './upstream/process.js';

export interface JournalDrillOptions {
  /** What has to be reached: different acts, and processes that died. */
  readonly acts: number;
  readonly deaths: number;
  /** When to stop in any case. */
  readonly minutes: number;
  readonly seed: number;
  readonly faultRate: number;
  /** `sqlite`, or the address of a PostgreSQL. */
  readonly store: string;
  readonly json: string | undefined;
  readonly markdown: string | undefined;
  readonly resume: boolean;
  readonly help: boolean;
}

const known = {
  acts: { type: 'string' },
  deaths: { type: 'string' },
  minutes: { type: 'string' },
  seed: { type: 'string' },
  faults: { type: 'string' },
  store: { type: 'string' },
  json: { type: 'string' },
  markdown: { type: 'string' },
  resume: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

const DEFAULTS = { acts: 5_000, deaths: 50, minutes: 10, seed: 1, faults: 0.2 } as const;

export const help = `Lets servers die at random while many callers ask for the same acts, and counts from the upstream's
own log what was done twice. First the same storm runs without a journal: it must show duplicates.

  npm run drill:journal -- [options]

  --acts N          different acts to be asked for, each by two callers (default ${DEFAULTS.acts})
  --deaths N        processes to be killed with SIGKILL meanwhile (default ${DEFAULTS.deaths})
  --minutes M       stop then in any case (default ${DEFAULTS.minutes})
  --faults R        the share of writes that meet a fault at the upstream (default ${DEFAULTS.faults})
  --store URL       sqlite, or postgres://… (default sqlite)
  --seed S          which luck (default ${DEFAULTS.seed})
  --json FILE       totals and every run
  --markdown FILE   the report as a page
  --resume          add to the runs in the --json file
  -h, --help

Exit code: 0 if nothing was done twice and nobody was left waiting, 1 otherwise, 2 for wrong usage.

Example, five minutes on SQLite:

  npm run drill:journal -- --minutes 5 --acts 100000 --deaths 1000
`;

export function readArgs(args: readonly string[]): JournalDrillOptions {
  const values = parseFlags(args, known);
  if (values.resume && values.json === undefined) {
    throw new UsageError('--resume adds to a --json file: name it');
  }
  const store = values.store ?? 'sqlite';
  if (store !== 'sqlite' && !/^postgres(ql)?:\/\//.test(store)) {
    throw new UsageError(`--store must be sqlite or postgres://…, not ${store}`);
  }
  return {
    acts: decimalNumber('--acts', values.acts, 1, 1e8) ?? DEFAULTS.acts,
    deaths: decimalNumber('--deaths', values.deaths, 0, 1e7) ?? DEFAULTS.deaths,
    minutes: decimalNumber('--minutes', values.minutes, 0.1, 10_000) ?? DEFAULTS.minutes,
    seed: decimalNumber('--seed', values.seed, 0, 2 ** 31) ?? DEFAULTS.seed,
    faultRate: decimalNumber('--faults', values.faults, 0, 0.9) ?? DEFAULTS.faults,
    store,
    json: values.json,
    markdown: values.markdown,
    resume: values.resume ?? false,
    help: values.help ?? false,
  };
}

export interface Run {
  readonly at: string;
  readonly seed: number;
  readonly store: 'sqlite' | 'postgres';
  readonly node: string;
  readonly faultRate: number;
  readonly control: Tally;
  readonly total: Tally;
}

const whole = (value: number): string => Math.round(value).toLocaleString('en-US');

const rows: readonly (readonly [label: string, of: (tally: Tally) => string])[] = [
  ['different acts asked for', ({ acts }) => whole(acts)],
  ['calls, re-issues included', ({ calls }) => whole(calls)],
  ['processes killed with SIGKILL', ({ deaths }) => whole(deaths)],
  ['calls that lost their server', ({ lost }) => whole(lost)],
  ['effects in the upstream’s log', ({ effects }) => whole(effects)],
  ['**acts done more than once**', ({ duplicates }) => `**${whole(duplicates)}**`],
  ['answers from the journal', ({ replays }) => whole(replays)],
  ['callers told "unknown"', ({ unknown }) => whole(unknown)],
  ['callers told different things', ({ contradictions }) => whole(contradictions)],
  ['callers never told', ({ limbo }) => whole(limbo)],
  ['calls not answered in their time', ({ late }) => whole(late)],
  ['minutes', ({ ms }) => (ms / 60_000).toFixed(1)],
];

/** The report as a page. */
export function journalPage(runs: readonly Run[], total: Tally, control: Tally): string {
  const faults = broken({ ...total, unknown: 0 });
  return `# The journal under fire

Written by \`npm run drill:journal -- --markdown FILE\`; the figures are counted, not estimated.

Four server processes, 25 callers each, on one journal. Every act is asked for by two callers of two
processes. Servers are killed with SIGKILL at random and started again; the upstream acts whenever it
is asked to, has no idempotency keys of its own, and meets a share of the writes with faults, most of
them after it has acted. A caller whose answer is lost issues the call again. What was done is counted
from the upstream's own log. The control is the same storm without a journal: it has to show
duplicates, or the storm would prove nothing.

| | with the journal | control, without |
| --- | ---: | ---: |
${rows.map(([label, of]) => `| ${label} | ${of(total)} | ${of(control)} |`).join('\n')}

\`\`\`text
acts done more than once, of a hundred

${bar('without a journal', control)}
${bar('with it', total)}
\`\`\`

${faults.length === 0 ? 'Nothing was done twice, nobody was left waiting, and no two callers were told different things.' : `**Broken:** ${faults.join('; ')}.`} ${aboutUnknown(total)}

| run | store | Node | seed | faults | acts | deaths | duplicates | told "unknown" | minutes |
| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
${runs.map((run) => line(run)).join('\n')}
`;
}

/** Said on the page, too, because the drill fails for it. */
function aboutUnknown({ unknown, acts }: Tally): string {
  if (unknown === 0) return 'What could be known was known.';
  const callers = 2 * acts;
  const share = ((100 * unknown) / callers).toPrecision(1);
  return `${whole(unknown)} of ${whole(callers)} callers (${share} %) were told that nobody knows, of acts that can be read back: those, too, were done at most once, but the drill ends with exit code 1 for it.`;
}

const BAR = 50;

function bar(label: string, { duplicates, acts }: Tally): string {
  const share = duplicates / Math.max(1, acts);
  const figure = (100 * share).toFixed(duplicates > 0 ? 1 : 0).padStart(5);
  return `${label.padEnd(17)}  ${figure}  ${'█'.repeat(Math.round(BAR * share))}`.trimEnd();
}

function line({ at, store, node, seed, faultRate, total }: Run): string {
  const { acts, deaths, duplicates, unknown, ms } = total;
  const cells = [at.slice(0, 10), store, node, seed, `${Math.round(faultRate * 100)} %`];
  const counts = [acts, deaths, duplicates, unknown].map(whole);
  const figures = [...counts, (ms / 60_000).toFixed(1)];
  return `| ${[...cells, ...figures].join(' | ')} |`;
}

type JournalDrillIo = Omit<CommandIo, 'colours'>;

const SERVERS = 4;
const CALLERS = 25;
/** Two callers for each act, and never two of one process. */
const GROUPS = (SERVERS * CALLERS) / 2;
/** Acts of a round: long enough that starting the servers hardly counts. */
const ROUND = 400;
const CALL_MS = 15_000;

export function drillJournal(args: readonly string[], io: JournalDrillIo): Promise<number> {
  return runCommand(args, io, {
    name: 'drill:journal',
    help,
    readOptions: readArgs,
    run: (options) => perform(options, io),
  });
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

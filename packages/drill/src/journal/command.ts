import {
  numberOf,
  parseFlags,
  ProgressLine,
  runCommand,
  UsageError,
  type CommandIo,
} from '../cli/command-line.js';
import {
  addTotals,
  type KillTestPlan,
  runKillTest,
  type Totals,
  violations,
  zeroTotals,
} from './kill-test.js';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundledLaunch, type Launch } from './launch.js';
import type { ServerSettings } from './server/faults.js';
import { startEffectsUpstream, type EffectsUpstream } from './upstream.js';

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

const help = `Kill servers at random while many callers request the same operations, and count duplicate executions
in the upstream's own log. A control run without a journal comes first: it must show duplicates.

  npm run drill:journal -- [options]

  --acts N          distinct operations, each requested by two callers (default ${DEFAULTS.acts})
  --deaths N        processes to kill with SIGKILL (default ${DEFAULTS.deaths})
  --minutes M       time limit (default ${DEFAULTS.minutes})
  --faults R        share of writes that fail at the upstream (default ${DEFAULTS.faults})
  --store URL       sqlite, or postgres://… (default sqlite)
  --seed S          random seed (default ${DEFAULTS.seed})
  --json FILE       write the totals of every run as JSON
  --markdown FILE   write a Markdown report
  --resume          append to the runs in the --json file
  -h, --help        show this help

Exit code: 0 if every guarantee held, 1 otherwise, 2 for invalid usage.

Example: five minutes on SQLite

  npm run drill:journal -- --minutes 5 --acts 100000 --deaths 1000
`;

function readArgs(args: readonly string[]) {
  const values = parseFlags(args, known);
  if (values.resume && values.json === undefined) {
    throw new UsageError('--resume needs a --json file to append to');
  }
  const store = values.store ?? 'sqlite';
  if (store !== 'sqlite' && !/^postgres(ql)?:\/\//.test(store)) {
    throw new UsageError(`--store must be sqlite or postgres://…, not ${store}`);
  }
  return {
    acts: numberOf('--acts', values.acts, 1, 1e8, 'number') ?? DEFAULTS.acts,
    deaths: numberOf('--deaths', values.deaths, 0, 1e7, 'number') ?? DEFAULTS.deaths,
    minutes: numberOf('--minutes', values.minutes, 0.1, 10_000, 'number') ?? DEFAULTS.minutes,
    seed: numberOf('--seed', values.seed, 0, 2 ** 31, 'number') ?? DEFAULTS.seed,
    faultRate: numberOf('--faults', values.faults, 0, 0.9, 'number') ?? DEFAULTS.faults,
    store,
    json: values.json,
    markdown: values.markdown,
    resume: values.resume ?? false,
    help: values.help ?? false,
  };
}

type JournalDrillOptions = ReturnType<typeof readArgs>;

export interface Run {
  readonly at: string;
  readonly seed: number;
  readonly store: 'sqlite' | 'postgres';
  readonly node: string;
  readonly faultRate: number;
  readonly control: Totals;
  readonly total: Totals;
}

const whole = (value: number): string => Math.round(value).toLocaleString('en-US');

const rows: readonly (readonly [label: string, of: (totals: Totals) => string])[] = [
  ['distinct operations', ({ acts }) => whole(acts)],
  ['calls, including repeated calls', ({ calls }) => whole(calls)],
  ['processes killed with SIGKILL', ({ deaths }) => whole(deaths)],
  ['calls whose server was killed', ({ lost }) => whole(lost)],
  ['effects in the upstream’s log', ({ effects }) => whole(effects)],
  ['**operations executed more than once**', ({ duplicates }) => `**${whole(duplicates)}**`],
  ['results replayed from the journal', ({ replays }) => whole(replays)],
  ['callers with an unknown outcome', ({ unknown }) => whole(unknown)],
  ['operations with contradictory results', ({ contradictions }) => whole(contradictions)],
  ['callers without an answer', ({ limbo }) => whole(limbo)],
  ['calls that timed out', ({ late }) => whole(late)],
  ['minutes', ({ ms }) => (ms / 60_000).toFixed(1)],
];

/** The report as Markdown. */
export function journalPage(runs: readonly Run[], total: Totals, control: Totals): string {
  const violated = violations({ ...total, unknown: 0 });
  return `# Drill: journal

Written by \`npm run drill:journal -- --markdown FILE\`.

Four server processes with 25 callers each share one journal. Two callers of two processes request
every operation. Servers are killed with SIGKILL at random and restarted. The upstream executes every
write, has no idempotency keys of its own, and injects faults into a share of the writes, most of them
after it has executed the write. A caller that loses its answer repeats the call. Executions are counted
in the upstream's own log. The control is the same test without a journal: it must show duplicates, or
the test would prove nothing.

| | with the journal | control, without |
| --- | ---: | ---: |
${rows.map(([label, of]) => `| ${label} | ${of(total)} | ${of(control)} |`).join('\n')}

\`\`\`text
operations executed more than once, per hundred

${bar('without a journal', control)}
${bar('with the journal', total)}
\`\`\`

${violated.length === 0 ? 'No operation was executed twice, every caller got an answer, and no two callers got different results.' : `**Violated:** ${violated.join('; ')}.`} ${unknownOutcomes(total)}

| run | store | Node | seed | faults | operations | kills | duplicates | unknown | minutes |
| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
${runs.map(runRow).join('\n')}
`;
}

/** Reported separately, because the drill fails for unknown outcomes although no operation ran twice. */
function unknownOutcomes({ unknown, acts }: Totals): string {
  if (unknown === 0) return 'No outcome remained unknown.';
  const callers = 2 * acts;
  const share = ((100 * unknown) / callers).toPrecision(1);
  return `${whole(unknown)} of ${whole(callers)} callers (${share} %) got an unknown outcome for an operation that can be read back: these operations, too, were executed at most once, but the drill exits with code 1.`;
}

const BAR_WIDTH = 50;

function bar(label: string, { duplicates, acts }: Totals): string {
  const share = duplicates / Math.max(1, acts);
  const figure = (100 * share).toFixed(duplicates > 0 ? 1 : 0).padStart(5);
  return `${label.padEnd(17)}  ${figure}  ${'█'.repeat(Math.round(BAR_WIDTH * share))}`.trimEnd();
}

function runRow({ at, store, node, seed, faultRate, total }: Run): string {
  const { acts, deaths, duplicates, unknown, ms } = total;
  const cells = [at.slice(0, 10), store, node, seed, `${Math.round(faultRate * 100)} %`];
  const counts = [acts, deaths, duplicates, unknown].map(whole);
  return `| ${[...cells, ...counts, (ms / 60_000).toFixed(1)].join(' | ')} |`;
}

type JournalDrillIo = Omit<CommandIo, 'colours'>;

const SERVERS = 4;
const CALLERS = 25;
/** Two callers for each operation, never of the same process. */
const GROUPS = (SERVERS * CALLERS) / 2;
/** Operations of a round: enough to make the start-up time of the servers negligible. */
const ROUND = 400;
const CALL_MS = 15_000;

export function drillJournal(args: readonly string[], io: JournalDrillIo): Promise<number> {
  return runCommand(args, io, {
    name: 'drill:journal',
    help,
    readOptions: readArgs,
    run: (options) => runDrill(options, io),
  });
}

async function runDrill(options: JournalDrillOptions, io: JournalDrillIo): Promise<number> {
  const { json, markdown, seed, faultRate } = options;
  const former = options.resume ? readRuns(json) : [];
  const launch = await bundledLaunch();
  const control = await runControl(options, launch);
  io.out(
    `control, without a journal: ${control.duplicates} of ${control.acts} operations executed twice\n`,
  );
  if (control.duplicates === 0) {
    io.err('The control shows no duplicates, so the test would prove nothing. Raise --faults.\n');
    return 1;
  }
  const save = (total: Totals): readonly Run[] => {
    const run: Run = {
      at: new Date().toISOString(),
      seed,
      store: options.store === 'sqlite' ? 'sqlite' : 'postgres',
      node: process.version,
      faultRate,
      control,
      total,
    };
    const runs = [...former, run];
    if (json) writeFileSync(json, `${JSON.stringify(runs, null, 2)}\n`);
    return runs;
  };
  const runs = save(await runRounds(options, launch, io, save));
  const all = runs.reduce((sum, run) => addTotals(sum, run.total), zeroTotals as Totals);
  const controls = runs.reduce((sum, run) => addTotals(sum, run.control), zeroTotals as Totals);
  const page = journalPage(runs, all, controls);
  if (markdown) writeFileSync(markdown, page);
  io.out(`\n${page}`);
  return violations(all).length === 0 ? 0 : 1;
}

async function runRounds(
  options: JournalDrillOptions,
  launch: Launch,
  io: JournalDrillIo,
  save: (total: Totals) => unknown,
): Promise<Totals> {
  const line = new ProgressLine(io.progress ? io.err : undefined);
  const until = performance.now() + options.minutes * 60_000;
  let total: Totals = zeroTotals;
  let round = 0;
  await withUpstream(options, options.faultRate, async (settings, upstream) => {
    while (total.acts < options.acts || total.deaths < options.deaths) {
      if (performance.now() > until) break;
      round += 1;
      const plan = { ...planOf(`${options.seed}.${round}`, options, round), launch, until };
      const { totals, problems } = await runKillTest(plan, settings, upstream, (calls, kills) =>
        line.show(
          `${total.acts} operations · ${total.deaths + kills} kills · ${total.calls + calls} calls`,
        ),
      );
      total = addTotals(total, totals);
      for (const problem of problems.slice(0, 5)) io.err(`${problem}\n`);
      save(total);
    }
  });
  line.clear();
  return total;
}

/** The same test on servers without a journal. */
async function runControl(options: JournalDrillOptions, launch: Launch): Promise<Totals> {
  return withUpstream(options, Math.max(options.faultRate, 0.1), async (settings, upstream) => {
    const plan = { ...planOf('control', options, 0), actsPerCaller: 4, launch };
    const { totals } = await runKillTest(plan, { ...settings, journal: 'off' }, upstream);
    return totals;
  });
}

/** Kills are paced so that both goals are reached at the same time. */
function planOf(
  name: string,
  options: JournalDrillOptions,
  seed: number,
): Omit<KillTestPlan, 'launch'> {
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

async function withUpstream<T>(
  { store, seed }: JournalDrillOptions,
  faultRate: number,
  run: (settings: ServerSettings, upstream: EffectsUpstream) => Promise<T>,
): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'toolkeel-drill-'));
  const upstream = await startEffectsUpstream({ seed, faultRate });
  try {
    const settings = {
      upstream: upstream.url,
      journal: store === 'sqlite' ? `sqlite:${join(dir, 'journal.db')}` : store,
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

function readRuns(file: string | undefined): readonly Run[] {
  if (file === undefined || !existsSync(file)) return [];
  return JSON.parse(readFileSync(file, 'utf8')) as readonly Run[];
}

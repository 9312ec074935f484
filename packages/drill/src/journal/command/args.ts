import { parseArgs } from 'node:util';
import { UsageError } from '../../cli/usage.js';

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
  const values = parse(args);
  if (values.resume && values.json === undefined) {
    throw new UsageError('--resume adds to a --json file: name it');
  }
  const store = values.store ?? 'sqlite';
  if (store !== 'sqlite' && !/^postgres(ql)?:\/\//.test(store)) {
    throw new UsageError(`--store must be sqlite or postgres://…, not ${store}`);
  }
  return {
    acts: figure('--acts', values.acts, 1, 1e8) ?? DEFAULTS.acts,
    deaths: figure('--deaths', values.deaths, 0, 1e7) ?? DEFAULTS.deaths,
    minutes: figure('--minutes', values.minutes, 0.1, 10_000) ?? DEFAULTS.minutes,
    seed: figure('--seed', values.seed, 0, 2 ** 31) ?? DEFAULTS.seed,
    faultRate: figure('--faults', values.faults, 0, 0.9) ?? DEFAULTS.faults,
    store,
    json: values.json,
    markdown: values.markdown,
    resume: values.resume ?? false,
    help: values.help ?? false,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: known, strict: true, allowPositionals: false })
      .values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function figure(name: string, text: string | undefined, min: number, max: number) {
  if (text === undefined) return undefined;
  const value = /^[\d_.]+$/.test(text) ? Number(text.replaceAll('_', '')) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new UsageError(`${name} must be a number from ${min} to ${max}, not ${text}`);
}

import { parseArgs } from 'node:util';
import { sweepNames, type SweepName } from '../sweeps/index.js';
import { UsageError, whole } from './usage.js';

export interface Options {
  readonly calls: number;
  readonly seed: number;
  readonly cells: string | undefined;
  readonly sweep: SweepName | undefined;
  readonly json: boolean;
  readonly write: boolean;
  readonly threads: number | undefined;
  readonly help: boolean;
}

export const FULL_CALLS = 200_000;
export const QUICK_CALLS = 10_000;
/** With fewer a p95 means nothing. */
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

export function readArgs(args: readonly string[]): Options {
  const values = parse(args);
  const { cells, sweep, json = false, write = false } = values;
  if (write && (cells !== undefined || sweep !== undefined)) {
    throw new UsageError('--write writes the whole page: leave out --cells and --sweep');
  }
  if (cells !== undefined && sweep !== undefined) {
    throw new UsageError('--cells picks from the table, --sweep prints another: choose one');
  }
  return {
    calls:
      whole('--calls', values.calls, FEWEST_CALLS, 10_000_000) ??
      (values.quick ? QUICK_CALLS : FULL_CALLS),
    seed: whole('--seed', values.seed, 0, 2 ** 32 - 1) ?? 1,
    cells,
    sweep: sweep === undefined ? undefined : sweepNamed(sweep),
    json,
    write,
    threads: whole('--threads', values.threads, 1, 64),
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

function sweepNamed(name: string): SweepName {
  const found = sweepNames.find((sweep) => sweep === name);
  if (found !== undefined) return found;
  throw new UsageError(`--sweep must be one of ${sweepNames.join(', ')}, not ${name}`);
}

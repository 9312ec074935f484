import { parseArgs } from 'node:util';

/** The command line is invalid: exit code 2, with a hint to `--help`. */
export class UsageError extends Error {}

/** The drill cannot continue, for the reason in the message. */
export class DrillError extends Error {}

export interface CommandIo {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Whether `out` is a terminal that shows colours. */
  readonly colours: boolean;
  /** Whether `err` is a terminal that shows a progress line. */
  readonly progress: boolean;
}

/** Runs a command and returns its exit code. Prints the help for `--help`, and a hint for invalid usage. */
export async function runCommand<O extends { readonly help: boolean }>(
  args: readonly string[],
  io: Pick<CommandIo, 'out' | 'err'>,
  command: {
    readonly name: string;
    readonly help: string;
    readonly readOptions: (args: readonly string[]) => O;
    readonly run: (options: O) => Promise<number>;
  },
): Promise<number> {
  const { name, help, readOptions, run } = command;
  try {
    const options = readOptions(args);
    if (!options.help) return await run(options);
    io.out(help);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    io.err(`${error.message}\n\nRun "npm run ${name} -- --help" for the options.\n`);
    return 2;
  }
}

type Flags = Readonly<
  Record<string, { readonly type: 'string' | 'boolean'; readonly short?: string }>
>;
type FlagValues<T extends Flags> = {
  readonly [K in keyof T]?: T[K]['type'] extends 'boolean' ? boolean : string;
};

export function parseFlags<T extends Flags>(args: readonly string[], options: T): FlagValues<T> {
  try {
    const config = { args: [...args], options, strict: true, allowPositionals: false } as const;
    return parseArgs(config).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** A number within bounds; digits may be grouped with `_`. Undefined if the flag is absent. */
export function numberOf(
  name: string,
  text: string | undefined,
  min: number,
  max: number,
  kind: 'whole number' | 'number' = 'whole number',
): number | undefined {
  if (text === undefined) return undefined;
  const isNumber = (kind === 'number' ? /^[\d_.]+$/ : /^[\d_]+$/).test(text);
  const value = isNumber ? Number(text.replaceAll('_', '')) : NaN;
  if (value >= min && value <= max) return value;
  throw new UsageError(`${name} must be a ${kind} from ${min} to ${max}, not ${text}`);
}

export function listOf(text: string | undefined): string[] | undefined {
  return text
    ?.split(',')
    .map((part) => part.trim())
    .filter(Boolean);
}

export function oneOf<T extends string>(name: string, text: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === text);
  if (found !== undefined) return found;
  throw new UsageError(`${name} must be one of ${choices.join(', ')}, not ${text}`);
}

/** A line on a terminal that is overwritten while work is in progress, and removed at the end. */
export class ProgressLine {
  readonly #write: ((text: string) => void) | undefined;

  constructor(write: ((text: string) => void) | undefined) {
    this.#write = write;
  }

  show(text: string): void {
    this.#write?.(`\r\u001B[2K${text.slice(0, 78)}`);
  }

  clear(): void {
    this.#write?.('\r\u001B[2K');
  }
}

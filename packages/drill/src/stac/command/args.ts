import { parseArgs } from 'node:util';
import { UsageError, whole } from '../../cli/usage.js';
import { CALLS_PER_BLOCK, toolNames, type ToolName } from '../calls/arguments.js';
import { scenario, type FaultMode, type Scenario } from '../scenarios.js';

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
  const { quick = false, help = false, json, html, markdown, ...said } = parse(args);
  const latencies = listOf(said.latency)?.map((text) => whole('--latency', text, 5, 5000)!);
  const faults = listOf(said.faults)?.map((text) => oneOf('--faults', text, modes));
  const chosen = listOf(said.tools)?.map((text) => oneOf('--tools', text, toolNames));
  const calls = whole('--calls', said.calls, CALLS_PER_BLOCK, MOST_CALLS);
  return {
    seed: whole('--seed', said.seed, 0, 2 ** 31) ?? 1,
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

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: known, strict: true, allowPositionals: false })
      .values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
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

function listOf(text: string | undefined): string[] | undefined {
  return text
    ?.split(',')
    .map((part) => part.trim())
    .filter(Boolean);
}

function oneOf<T extends string>(name: string, text: string, all: readonly T[]): T {
  const found = all.find((one) => one === text);
  if (found !== undefined) return found;
  throw new UsageError(`${name}: there is no ${text}, but ${all.join(', ')}`);
}

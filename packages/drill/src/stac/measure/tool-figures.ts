import { lowestExpected } from '../../stats/binomial.js';
import type { ToolName } from '../calls/arguments.js';
import { DEVIATIONS, REQUEST_SUCCESS } from '../judge/bars.js';
import type { CallRecord } from '../run/record.js';
import { count, incompleteAmong } from './arm-figures.js';
import { wallFigures, type Walls } from './walls.js';

/** One tool without faults and with them. */
export interface ToolFigures {
  readonly tool: ToolName;
  readonly calls: number;
  /** The fewest and the most requests that one of its calls makes when nothing fails. */
  readonly requests: readonly [fewest: number, most: number];
  readonly baseline: Walls & { readonly successes: number };
  readonly faulted: Walls & {
    readonly successes: number;
    readonly incomplete: number;
    readonly mostAttempts: number;
  };
  /** p95 with faults ÷ p95 without. */
  readonly ratio: number;
  /** The chance of each of its calls, by how many requests it makes. */
  readonly chances: readonly number[];
  /** The share of successes that they let expect, less three standard deviations. */
  readonly lowest: number;
}

export function toolFigures(
  tool: ToolName,
  baseline: readonly CallRecord[],
  faulted: readonly CallRecord[],
): ToolFigures {
  const requests = baseline.map(({ distinct }) => distinct);
  const chances = requests.map((k) => REQUEST_SUCCESS ** k);
  const without = wallFigures(baseline);
  const within = wallFigures(faulted);
  const successes = (records: readonly CallRecord[]) => count(records, ({ success }) => success);
  return {
    tool,
    calls: faulted.length,
    requests: [Math.min(...requests), Math.max(...requests)],
    baseline: { ...without, successes: successes(baseline) },
    faulted: {
      ...within,
      successes: successes(faulted),
      incomplete: incompleteAmong(faulted, baseline),
      mostAttempts: Math.max(0, ...faulted.map(({ mostAttempts }) => mostAttempts)),
    },
    ratio: within.p95Ms / without.p95Ms,
    chances,
    lowest: lowestExpected(chances, DEVIATIONS),
  };
}

/** Whether every call of it is one request. */
export function isSingleRequest({ requests: [fewest, most] }: ToolFigures): boolean {
  return fewest === 1 && most === 1;
}

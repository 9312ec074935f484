import type { Block } from '../calls/blocks.js';
import type { Timed } from '../rig/server.js';
import { attribute, type Owners } from '../witness/attribute.js';
import type { Read } from '../witness/envelope.js';
import { arrivals } from '../witness/requests.js';
import type { RunningArm } from './arm.js';
import { inLanes } from './lanes.js';
import { recordOf, type CallRecord } from './record.js';
import { takingTurns } from './turns.js';

export interface BlockRun {
  readonly block: Block;
  /** What the upstreams draw from, in every arm. */
  readonly seed: number;
  readonly owners: Owners;
  readonly callers: number;
  readonly read: (tool: string, answer: Timed['answer']) => Read;
}

export interface BlockResult {
  readonly records: readonly CallRecord[];
  /** Requests that belong to no call. */
  readonly strange: number;
}

/** All calls of a block in all arms, so many at a time, and then what the upstreams say about it. */
export async function runBlock(
  arms: readonly RunningArm[],
  options: BlockRun,
): Promise<BlockResult[]> {
  const { block, seed, callers } = options;
  const upstreams = arms.flatMap((arm) => arm.upstreams);
  await Promise.all(upstreams.map(({ restart }) => restart(seed)));
  const answers: Timed[][] = arms.map(() => []);
  const turns = takingTurns(block.calls.length, arms.length, block.index);
  await inLanes(turns, callers, async ({ arm, call }) => {
    const { tool, args } = block.calls[call]!;
    answers[arm]![call] = await arms[arm]!.server.call(tool, args);
  });
  return Promise.all(arms.map((arm, place) => resultOf(arm, answers[place]!, options)));
}

async function resultOf(
  { upstreams, hedge }: RunningArm,
  answers: readonly Timed[],
  { block, owners, read }: BlockRun,
): Promise<BlockResult> {
  const logs = await Promise.all(upstreams.map(({ log }) => log()));
  const { byCall, strange } = attribute(arrivals(logs), owners, block.calls.length);
  const records = block.calls.map((call, place) => {
    const timed = answers[place]!;
    const told = read(call.tool, timed.answer);
    const arrived = byCall[place]!;
    return recordOf(call, { block: block.index, timed, told, arrived, hedged: hedge });
  });
  return { records, strange: strange.length };
}

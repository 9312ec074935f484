import type { Block, PlannedCall } from '../calls/blocks.js';
import type { Timed } from '../rig/server.js';
import { attribute, type Owners } from '../witness/attribute.js';
import { contradiction } from '../witness/contradiction.js';
import type { Read } from '../witness/envelope.js';
import { arrivals, seenOf, type Arrival } from '../witness/requests.js';
import type { RunningArm } from './arm.js';
import type { CallRecord } from './record.js';

export interface BlockRun {
  readonly block: Block;
  /** What the upstreams draw from, in every arm. */
  readonly seed: number;
  readonly owners: Owners;
  readonly callers: number;
  readonly hedged: boolean;
  readonly read: (tool: string, answer: Timed['answer']) => Read;
}

export interface BlockResult {
  readonly records: readonly CallRecord[];
  /** Requests that belong to no call. */
  readonly strange: number;
}

/** All calls of a block, so many at a time, and then what the upstreams say about it. */
export async function runBlock(arm: RunningArm, options: BlockRun): Promise<BlockResult> {
  const { block, seed, owners, callers, hedged, read } = options;
  await Promise.all(arm.upstreams.map(({ restart }) => restart(seed)));
  const answers = await inLanes(block.calls, callers, ({ tool, args }) =>
    arm.server.call(tool, args),
  );
  const logs = await Promise.all(arm.upstreams.map(({ log }) => log()));
  const { byCall, strange } = attribute(arrivals(logs), owners, block.calls.length);
  const records = block.calls.map((call, place) => {
    const timed = answers[place]!;
    const told = read(call.tool, timed.answer);
    return recordOf(call, { block: block.index, timed, told, arrived: byCall[place]!, hedged });
  });
  return { records, strange: strange.length };
}

/** Applies `work` to all, at most so many at a time, each taking the next as soon as it is done. */
export async function inLanes<T, R>(
  all: readonly T[],
  lanes: number,
  work: (one: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let at = next++; at < all.length; at = next++) results[at] = await work(all[at]!);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return results;
}

function recordOf(
  { tool, n }: PlannedCall,
  about: {
    readonly block: number;
    readonly timed: Timed;
    readonly told: Read;
    readonly arrived: readonly Arrival[];
    readonly hedged: boolean;
  },
): CallRecord {
  const { block, timed, told, arrived, hedged } = about;
  const seen = seenOf(arrived);
  const { requests, distinct, mostAttempts, latencyMs } = seen;
  const common = {
    tool,
    n,
    block,
    wallMs: timed.wallMs,
    requests,
    distinct,
    mostAttempts,
    latencyMs,
  };
  if (!told.ok) {
    const nothing = { success: false, code: 'mismatch', digest: '', hedges: 0 };
    return { ...common, ...nothing, mismatch: told.why, contradiction: undefined };
  }
  const { success, code, digest, retries } = told.told;
  return {
    ...common,
    success,
    code,
    digest,
    hedges: seen.extra - retries,
    mismatch: undefined,
    contradiction: contradiction(told.told, seen, hedged),
  };
}

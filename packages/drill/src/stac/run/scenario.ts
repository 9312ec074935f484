import { derive } from '../../model/draws.js';
import type { Block } from '../calls/blocks.js';
import type { ArmName, Scenario } from '../scenarios.js';
import type { Owners } from '../witness/attribute.js';
import { envelopeReader } from '../witness/envelope.js';
import { runBlock } from './block.js';
import type { CallRecord } from './record.js';
import { openStage, type StageOptions } from './stage.js';

export interface ScenarioOptions extends Pick<StageOptions, 'command' | 'dir' | 'seed' | 'sites'> {
  readonly warmUp: readonly Block[];
  readonly blocks: readonly Block[];
  readonly owners: ReadonlyMap<number, Owners>;
  readonly onBlock?: (done: number, all: number) => void;
}

/** What became of every call, arm by arm, in the order of the plan. */
export interface ScenarioRun {
  readonly scenario: Scenario;
  readonly blocks: number;
  readonly records: ReadonlyMap<ArmName, readonly CallRecord[]>;
  /** Requests that belong to no call. */
  readonly strange: number;
}

/** All blocks, each of them in every arm before the next one begins. */
export async function runScenario(
  scenario: Scenario,
  options: ScenarioOptions,
): Promise<ScenarioRun> {
  const { warmUp, blocks, owners, onBlock = () => {} } = options;
  const { p95Ms, arms, callers } = scenario;
  const stage = await openStage({ ...options, p95Ms, arms });
  try {
    const records = new Map<ArmName, CallRecord[]>(arms.map(({ name }) => [name, []]));
    // All servers are of one make, so that the schemas of one are those of all.
    const read = envelopeReader(stage.arms[0]!.server.outputSchemas);
    let strange = 0;
    const all = [...warmUp, ...blocks];
    for (const [done, block] of all.entries()) {
      onBlock(done, all.length);
      await Promise.all(stage.arms.map(({ renew }) => renew()));
      for (const place of turnOrder(arms.length, done)) {
        const { name, hedge } = arms[place]!;
        const arm = stage.arms[place]!;
        const result = await runBlock(arm, {
          block,
          callers,
          hedged: hedge,
          seed: derive(derive(options.seed, scenario.luck), block.index),
          owners: owners.get(block.index)!,
          read,
        });
        if (done < warmUp.length) continue;
        records.get(name)?.push(...result.records);
        strange += result.strange;
      }
    }
    return { scenario, blocks: blocks.length, records, strange };
  } finally {
    await stage.close();
  }
}

/** Each arm goes first in its turn, and neither always before nor always behind another. */
export function turnOrder(count: number, turn: number): number[] {
  const order = Array.from({ length: count }, (_, place) => (place + (turn >> 1)) % count);
  return turn % 2 === 0 ? order : order.toReversed();
}

import { seededRandom } from '@toolkeel/kernel/testing';
import { derive } from '../../model/draws.js';
import { argumentsOf, CALLS_PER_BLOCK, type Arguments, type ToolName } from './arguments.js';
import type { Material } from './material.js';

export interface PlannedCall {
  /** Which of the tool's calls. */
  readonly n: number;
  readonly tool: ToolName;
  readonly args: Arguments;
}

/** Calls that are made in one go, against one arm after the other. */
export interface Block {
  readonly index: number;
  readonly calls: readonly PlannedCall[];
}

export interface BlockOptions {
  readonly tools: readonly ToolName[];
  readonly count: number;
  readonly seed: number;
}

/** Some calls of every tool in each block, well mixed. */
export function planBlocks({ tools, count, seed }: BlockOptions, material: Material): Block[] {
  return Array.from({ length: count }, (_, index) => {
    const random = seededRandom(derive(seed, index));
    const calls = tools.flatMap((tool) =>
      Array.from({ length: CALLS_PER_BLOCK }, (__, place): PlannedCall => {
        const n = index * CALLS_PER_BLOCK + place;
        return { tool, n, args: argumentsOf[tool](n, material) };
      }),
    );
    return { index, calls: shuffled(calls, random) };
  });
}

function shuffled<T>(list: readonly T[], random: () => number): T[] {
  const mixed = [...list];
  for (let last = mixed.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [mixed[last], mixed[other]] = [mixed[other]!, mixed[last]!];
  }
  return mixed;
}
